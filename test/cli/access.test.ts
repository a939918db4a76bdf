import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { fakeOperator, sampleAdmissions } from '../fakes/operator.ts'
import { type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('access list shows who asked, and what was decided by whom', async () => {
  const parley = await withDaemon()
  expect(await parley.run('access', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'CODE   STATE     WHO OR WHERE          NAME',
    'k7f3d  asked     telegram:555          Cy',
    '  asked 2026-11-21 14:03:22 UTC, no owner was notified yet',
    'm2p9q  admitted  telegram:group:-1001  -',
    '  asked 2026-11-21 14:03:22 UTC, decided 2026-11-21 14:03:23 UTC by ada',
  ])
})

test('access list --json prints the answer as it came', async () => {
  const parley = await withDaemon()
  expect(await parley.run('access', 'list', '--json')).toBe(0)
  expect(JSON.parse(parley.out())).toEqual(sampleAdmissions)
})

test('access list before anybody has asked says so', async () => {
  const { admissions } = fakeOperator()
  const parley = await withDaemon(fakeOperator({ admissions: { ...admissions, list: async () => [] } }))
  expect(await parley.run('access', 'list')).toBe(0)
  expect(parley.out()).toBe('Nobody has asked to be let in.\n')
})

test('access admit and deny say what holds now', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('access', 'admit', 'k7f3d')).toBe(0)
  expect(await parley.run('access', 'deny', 'm2p9q', '--json')).toBe(0)
  expect(operator.asked).toEqual([{ admit: 'k7f3d' }, { deny: 'm2p9q' }])
  expect(parley.out()).toContain('telegram:555 is admitted now.')
  expect(await parley.run('access', 'admit', 'nobody')).toBe(1)
})

test('config reload names what got wider, and that nothing did', async () => {
  const parley = await withDaemon()
  expect(await parley.run('config', 'reload')).toBe(0)
  expect(parley.out().split('\n').slice(0, 6)).toEqual([
    'wider     routing.access.direct: public (was owner)',
    'narrower  people: bob: guest (was member)',
    'other     dispatch: changed',
    expect.stringContaining('warning'),
    'at start  session.publicTurns',
    'This holds now.',
  ])
  const nothing = { wider: [], narrower: [], other: [], warnings: [], later: [] }
  const quiet = await withDaemon(fakeOperator({ config: { reload: async () => nothing } }))
  expect(await quiet.run('config', 'reload')).toBe(0)
  expect(quiet.out()).toBe(
    'Nothing has changed in who is who, who may talk, dispatch and send policy.\nNothing else in the file has changed.\n',
  )
})

test('config reload of a file with a mistake exits 78 and says that nothing was changed, whoever finds it', async () => {
  const unchanged = 'Nothing was changed: the policy of before holds.\n'
  const local = await rig({ load: () => Promise.reject(new ParleyError('config', 'parley.yaml:3: a mistake')) })
  expect(await local.run('config', 'reload')).toBe(78)
  expect(local.err()).toBe(`parley.yaml:3: a mistake\n${unchanged}`)
  const found = new ParleyError('invalid', `people.bob: a mistake\n${unchanged.trim()}`)
  const daemon = await withDaemon(fakeOperator({ config: { reload: () => Promise.reject(found) } }))
  expect(await daemon.run('config', 'reload')).toBe(78)
  expect(daemon.err()).toBe(`people.bob: a mistake\n${unchanged}`)
})
