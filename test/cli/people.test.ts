import { expect, test } from 'vitest'
import { fakeOperator, samplePeople } from '../fakes/operator.ts'
import { type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('people list shows every id with where it is from, and who was joined when', async () => {
  const parley = await withDaemon()
  expect(await parley.run('people', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'PERSON  ROLE    ID            FROM',
    'ada     owner   telegram:111  configuration',
    'ada     owner   discord:222   link, but the configuration gives it to bob',
    'bob     member  -',
    'Cy      guest   telegram:555  let in by ada 2026-11-21 14:03:22 UTC',
    '',
    'Changes',
    '2026-11-21 14:03:22 UTC  linked  ada  discord:222  by telegram:111',
  ])
})

test('people list --json prints the answer as it came', async () => {
  const parley = await withDaemon()
  expect(await parley.run('people', 'list', '--json')).toBe(0)
  expect(JSON.parse(parley.out())).toEqual(samplePeople)
})

test('people list before anybody is known says how that begins', async () => {
  const { people } = fakeOperator()
  const parley = await withDaemon(
    fakeOperator({ people: { ...people, list: async () => ({ people: [], letIn: [], changes: [] }) } }),
  )
  expect(await parley.run('people', 'list')).toBe(0)
  expect(parley.out()).toContain('Nobody is known yet.')
})

test('people link and unlink say what holds now', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('people', 'link', 'ada', 'slack:T01/U333')).toBe(0)
  expect(await parley.run('people', 'unlink', 'discord:222')).toBe(0)
  expect(operator.asked).toEqual([{ link: ['ada', 'slack:T01/U333'] }, { unlink: 'discord:222' }])
  expect(parley.out()).toBe('slack:T01/U333 is ada now.\ndiscord:222 is not ada any more.\n')
})

test.each([
  ['link', 'nobody', 'telegram:1'],
  ['unlink', 'telegram:1'],
])('people %s of what is not there exits 1', async (...argv) => {
  const parley = await withDaemon()
  expect(await parley.run('people', ...argv)).toBe(1)
})
