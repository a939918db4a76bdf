import { expect, test } from 'vitest'
import { fakeOperator, sampleMemory } from '../fakes/operator.ts'
import { type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('memory list shows a line an entry, and looks for words', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('memory', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'NO  AT                       AGENT  CONVERSATION        TEXT',
    '7   2026-11-21 14:03:22 UTC  main   Workshop › Engines  Ada likes green tea',
  ])
  expect(await parley.run('memory', 'list', 'green', 'tea', '--before', '9')).toBe(0)
  expect(operator.asked).toEqual([{ memory: {} }, { memory: { words: 'green tea', before: 9 } }])
})

test('memory list --json prints the answer as it came, and an empty one says so', async () => {
  const parley = await withDaemon()
  expect(await parley.run('memory', 'list', '--json')).toBe(0)
  expect(JSON.parse(parley.out())).toEqual([sampleMemory])
  const empty = await withDaemon()
  expect(await empty.run('memory', 'list', 'nothing')).toBe(0)
  expect(empty.out()).toBe('Nothing like that is remembered.\n')
})

test('memory show says where an entry was learned and whose words it is; remove takes it away', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('memory', 'show', '7')).toBe(0)
  expect(parley.out()).toContain('words of    telegram:111, nobody\n')
  expect(parley.out()).toContain('learned in  Workshop › Engines (telegram:2026-11-21-9f3a61c0)\n')
  expect(await parley.run('memory', 'remove', '7')).toBe(0)
  expect(parley.out()).toContain('Removed 7: Ada likes green tea\n')
  expect(operator.asked).toEqual([{ show: 7 }, { remove: 7 }])
})

test.each(['show', 'remove'])('memory %s of what is not there exits 1', async (verb) => {
  const parley = await withDaemon()
  expect(await parley.run('memory', verb, '8')).toBe(1)
  expect(parley.err()).toContain('Nothing is remembered under 8.')
})

test('memory show of what is no number is a mistake of the call', async () => {
  const parley = await withDaemon()
  expect(await parley.run('memory', 'show', 'seven')).toBe(2)
})
