import { expect, test } from 'vitest'
import { fakeOperator, sampleApproval } from '../fakes/operator.ts'
import { type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('S7: approvals list shows each call in full', async () => {
  const parley = await withDaemon()
  expect(await parley.run('approvals', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'k7m3f  pay in telegram:direct:111, asked 2026-11-21 14:03:22 UTC',
    '  {"to":"cy"}',
  ])
  expect(await parley.run('approvals', 'list', '--json')).toBe(0)
  expect(parley.out()).toContain(JSON.stringify(sampleApproval.args).slice(1, -1))
})

test('S7: approvals list where nothing waits says so', async () => {
  const { approvals } = fakeOperator()
  const parley = await withDaemon(fakeOperator({ approvals: { ...approvals, list: async () => [] } }))
  expect(await parley.run('approvals', 'list')).toBe(0)
  expect(parley.out()).toBe('Nothing is asked that waits for an answer.\n')
})

test('S7: approvals approve and deny say what holds now', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('approvals', 'approve', 'k7m3f')).toBe(0)
  expect(await parley.run('approvals', 'deny', 'k7m3f', '--json')).toBe(0)
  expect(operator.asked).toEqual([{ approve: 'k7m3f' }, { deny: 'k7m3f' }])
  expect(parley.out()).toContain('pay in telegram:direct:111 is allowed, this once.')
  expect(await parley.run('approvals', 'approve', 'zzzzz')).toBe(1)
  expect(parley.err()).toBe('Nothing is asked under the code zzzzz; see "parley approvals list".\n')
})
