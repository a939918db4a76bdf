import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { fakeOperator, sampleRestoration } from '../fakes/operator.ts'
import { fakeOffline, makeStore, type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('outbox list says what is held, how to decide, and what was left unanswered', async () => {
  const parley = await withDaemon()
  expect(await parley.run('outbox', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'put back  found 2026-11-21 14:03:22 UTC, written last 2026-11-21 14:02:22 UTC',
    'queue     2 held: parley outbox resume, or discard',
    '',
    'Left unanswered',
    '  in_1  2026-11-21 14:03:21 UTC  telegram:direct:111',
  ])
})

test('outbox list --json prints the answer as it came; null where the database was never put back', async () => {
  const parley = await withDaemon()
  expect(await parley.run('outbox', 'list', '--json')).toBe(0)
  expect(JSON.parse(parley.out())).toEqual(sampleRestoration)
  const { outbox } = fakeOperator()
  const never = await withDaemon(fakeOperator({ outbox: { ...outbox, restoration: async () => undefined } }))
  expect(await never.run('outbox', 'list', '--json')).toBe(0)
  expect(JSON.parse(never.out())).toBeNull()
})

test('outbox list without a daemon reads the store and says that nothing was put back', async () => {
  const decide = () => Promise.reject(new ParleyError('unavailable', 'Start the daemon first: it carries it out.'))
  const outbox = { restoration: async () => undefined, decide, retry: decide, drop: decide }
  const parley = await rig({ openOffline: async () => ({ ...fakeOffline(), outbox }) })
  await makeStore(parley)
  expect(await parley.run('outbox', 'list')).toBe(0)
  expect(parley.out()).toBe('Nothing is held: the database was never put back.\n')
  expect(await parley.run('outbox', 'resume')).toBe(1)
  expect(parley.err()).toContain('Start the daemon first')
})

test('outbox retry and drop decide about one delivery, and say what holds now', async () => {
  const operator = fakeOperator()
  const parley = await rig()
  await serveDaemon(parley, operator)
  expect(await parley.run('outbox', 'retry', 'out_1')).toBe(0)
  expect(await parley.run('outbox', 'drop', 'out_1')).toBe(0)
  expect(operator.asked).toEqual([{ retry: 'out_1' }, { drop: 'out_1' }])
  expect(parley.out()).toContain('out_1 to telegram:group:-1001 is given_up; "parley why tr_1" shows what comes of it.')
  expect(await parley.run('outbox', 'drop', 'out_9')).toBe(1)
  expect(parley.err()).toBe('There is no delivery out_9.\n')
})

test('outbox resume and discard decide, and say what holds now', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('outbox', 'resume')).toBe(0)
  expect(parley.out()).toContain('queue     resumed\n')
  expect(await parley.run('outbox', 'discard', '--json')).toBe(0)
  expect(operator.asked).toEqual([{ outbox: 'resume' }, { outbox: 'discard' }])
})

test('a choice where nothing is held exits 1 with the daemon’s sentence', async () => {
  const { outbox } = fakeOperator()
  const decide = () => Promise.reject(new ParleyError('conflict', 'Nothing is held: there is nothing to decide.'))
  const parley = await withDaemon(fakeOperator({ outbox: { ...outbox, decide } }))
  expect(await parley.run('outbox', 'discard')).toBe(1)
  expect(parley.err()).toBe('Nothing is held: there is nothing to decide.\n')
})
