import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { fakeOperator, sampleSchedule } from '../fakes/operator.ts'
import { fakeOffline, makeStore, type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

test('schedule list shows when each runs next and what came of the last slot', async () => {
  const parley = await withDaemon()
  expect(await parley.run('schedule', 'list')).toBe(0)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    'SCHEDULE  NEXT                     LAST                     OUTCOME',
    'morning   2026-11-21 14:04:22 UTC  2026-11-21 14:03:22 UTC  answered',
    '  0 8 * * 1-5 in Europe/Berlin, to telegram:group:-1002/7',
  ])
})

test('schedule list --json prints the answer as it came', async () => {
  const parley = await withDaemon()
  expect(await parley.run('schedule', 'list', '--json')).toBe(0)
  expect(JSON.parse(parley.out())).toEqual([sampleSchedule])
})

test('without any, it says how to write one', async () => {
  const { schedules } = fakeOperator()
  const parley = await withDaemon(fakeOperator({ schedules: { ...schedules, list: async () => [] } }))
  expect(await parley.run('schedule', 'list')).toBe(0)
  expect(parley.out()).toContain('No schedule.')
})

test('schedule next asks for five slots unless it is told, and prints them as times', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('schedule', 'next', 'morning', '--json')).toBe(0)
  expect(operator.asked).toEqual([{ id: 'morning', count: 5 }])
  expect(JSON.parse(parley.out())[0]).toBe('2026-11-21T14:03:22.000Z')
})

test('schedule run starts it and names the trace', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('schedule', 'run', 'morning')).toBe(0)
  expect(operator.asked).toEqual([{ run: 'morning' }])
  expect(parley.out()).toContain('parley why tr_2')
})

test('schedule pause, resume and remove change it and show it', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  for (const change of ['pause', 'resume', 'remove']) expect(await parley.run('schedule', change, 'morning')).toBe(0)
  expect(operator.asked).toEqual([{ pause: 'morning' }, { resume: 'morning' }, { remove: 'morning' }])
  expect(parley.out()).toContain('Europe/Berlin')
})

test.each([
  ['pause', 'nobody'],
  ['remove', 'nobody'],
  ['next', 'nobody'],
  ['run', 'nobody'],
])('schedule %s of what is not there exits 1 with a line', async (...argv) => {
  const parley = await withDaemon()
  expect(await parley.run('schedule', ...argv)).toBe(1)
  expect(parley.err()).toBe('There is no schedule nobody.\n')
})

test.each(['0', '101', 'x'])('schedule next morning %s is wrong usage', async (count) => {
  const parley = await withDaemon()
  expect(await parley.run('schedule', 'next', 'morning', count)).toBe(2)
})

test('without a daemon schedules can be looked at, and not run', async () => {
  const run = async () => {
    throw new ParleyError('unavailable', 'No daemon is running; "parley start" runs schedules.')
  }
  const { schedules } = fakeOperator()
  const parley = await rig({ openOffline: async () => fakeOffline({ schedules: { ...schedules, run } }) })
  await makeStore(parley)
  expect(await parley.run('schedule', 'list')).toBe(0)
  expect(await parley.run('schedule', 'run', 'morning')).toBe(1)
  expect(parley.err()).toContain('"parley start" runs schedules')
})

test('schedule add hands over place, words and the zone of the machine, and says how it ends', async () => {
  const operator = fakeOperator()
  const parley = await withDaemon(operator)
  expect(await parley.run('schedule', 'add', 'telegram:group:-1002', 'every', 'monday', 'at', '8', 'bins')).toBe(0)
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  expect(operator.asked).toEqual([{ add: { to: 'telegram:group:-1002', words: 'every monday at 8 bins', timezone } }])
  expect(parley.out()).toContain('"parley schedule remove morning" ends it.')
  await parley.run('schedule', 'add', 'telegram:group:-1002', 'at 8 bins', '--task', '--zone', 'Asia/Tokyo')
  expect(operator.asked[1]).toMatchObject({ add: { task: true, timezone: 'Asia/Tokyo' } })
})
