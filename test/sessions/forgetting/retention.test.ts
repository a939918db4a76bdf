import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { AgeLimit } from '../../../src/core/retention.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { createRetention } from '../../../src/sessions/forgetting/retention.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const DAY_MS = 86_400_000
const NOW = 100 * DAY_MS

const limit = (key: string, days = 10): AgeLimit => ({ key, rule: key, days })

/** Age limits, and a session in which something was said 30 days ago; `of` is the limit that it has. */
async function rig(all: readonly AgeLimit[], of: () => AgeLimit | undefined = () => undefined) {
  let elapsed = 0
  const clock = { ...fixedClock(NOW), elapsed: () => elapsed }
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock })
  onTestFinished(() => store.close())
  const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  const say = (text: string) => store.write((tx) => tx.events.append(id, NOW - 30 * DAY_MS, [userMessage(text)]))
  await say('an old secret')
  const mark = (rule: string, startsAt: number, days = 10) =>
    store.write((tx) => tx.forgetting.mark({ rule, days, reportedAt: startsAt - DAY_MS, startsAt, seenAt: NOW }))
  const told: string[] = []
  let tellsNobody = false
  let isFull = false
  let held: Promise<void> | undefined
  let reaches = (): void => {}
  const retention = createRetention({
    ...{ store, clock, logger: silentLogger, ageingTime: () => NOW },
    limits: { all, of, differ: false, byTopic: false },
    async tellOwners(about) {
      if (tellsNobody) throw new Error('the process ends')
      if (isFull) return false
      told.push(about)
      return true
    },
    async forgetFiles() {
      reaches()
      await held
      return 0
    },
    stopping: () => false,
    dropSchedule: async () => {},
    dropView: () => {},
  })
  const log = async () => JSON.stringify(await store.read.events.since(id, 0, 10))
  const pass = (ms: number) => {
    elapsed += ms
  }
  const tell = (isOn: boolean) => {
    tellsNobody = !isOn
  }
  const fill = (full: boolean) => {
    isFull = full
  }
  /** Holds a round once it has removed something. */
  const hold = () => {
    const [reached, ended] = [deferred<void>(), deferred<void>()]
    reaches = reached.resolve
    held = ended.promise
    return { reached: reached.promise, release: ended.resolve }
  }
  return { hold, store, retention, mark, told, tell, fill, say, log, pass, marks: () => store.read.forgetting.marks() }
}

it('S41: a limit that was reported while the clock was ahead begins a day from now at the latest', async () => {
  const { retention, mark, marks, told } = await rig([limit('ahead'), limit('soon')])
  const [ahead, soon] = [NOW + 400 * DAY_MS, NOW + 1_000]
  await mark('ahead', ahead)
  await mark('soon', soon)
  await retention.round()
  expect((await marks()).map(({ rule, startsAt }) => [rule, startsAt])).toEqual([
    ['ahead', NOW + DAY_MS],
    ['soon', soon],
  ])
  expect(told).toEqual([])
})

it('S41: a limit that was taken out of the configuration is reported anew when it comes back', async () => {
  const all = [limit('kept')]
  const { retention, mark, marks, told } = await rig(all)
  for (const rule of ['kept', 'gone']) await mark(rule, NOW - 1_000)
  await retention.round()
  expect((await marks()).map(({ rule }) => rule)).toEqual(['kept'])
  all.push(limit('gone'))
  await retention.round()
  expect(told).toEqual(['gone:10'])
  expect(await marks()).toContainEqual(expect.objectContaining({ rule: 'gone', startsAt: NOW + DAY_MS }))
})

it('S41: a limit is reported once more if the process ended before its report was on disk', async () => {
  const { retention, told, tell, marks } = await rig([limit('rule')])
  tell(false)
  await retention.round().catch(() => {})
  expect(await marks()).toEqual([])
  tell(true)
  await retention.round()
  expect([told, await marks()]).toMatchObject([['rule:10'], [{ rule: 'rule', startsAt: NOW + DAY_MS }]])
})

it('S41: a round that failed is tried again with the next, not only a day later', async () => {
  let fails = true
  const { retention, mark, log } = await rig([limit('rule')], () => {
    if (fails) throw new Error('the disk is full')
    return limit('rule')
  })
  await mark('rule', NOW - 1)
  await expect(retention.round()).rejects.toThrow('full')
  fails = false
  await retention.round()
  expect(await log()).not.toContain('an old secret')
})

it('S41: a limit does not begin while the store takes no report of it', async () => {
  const { retention, told, fill, marks } = await rig([limit('rule')])
  fill(true)
  await retention.round()
  expect(await marks()).toEqual([])
  fill(false)
  await retention.round()
  expect([told, await marks()]).toMatchObject([['rule:10'], [{ rule: 'rule', startsAt: NOW + DAY_MS }]])
})

it('S41: a limit that becomes shorter during a round removes nothing before it was reported itself', async () => {
  let days = 5
  const { retention, mark, log } = await rig([limit('rule', 10)], () => limit('rule', days))
  await mark('rule', NOW - 1_000)
  await retention.round()
  expect(await log()).toContain('an old secret')
  days = 10
  await retention.runRetention()
  expect(await log()).not.toContain('an old secret')
})

it('S41: limits that an owner applies at once are applied also where a round runs that began before they did', async () => {
  let rule = 'begun'
  const { retention, mark, marks, say, log, hold } = await rig([limit('begun'), limit('waits')], () => limit(rule))
  await mark('begun', NOW - 1_000)
  await mark('waits', NOW + 1_000)
  const { reached, release } = hold()
  const round = retention.round()
  await reached
  await say('one more secret')
  rule = 'waits'
  const asked = retention.runRetention()
  await vi.waitFor(async () => expect((await marks()).every(({ startsAt }) => startsAt <= NOW)).toBe(true))
  await new Promise(setImmediate)
  release()
  await Promise.all([round, asked])
  expect(await log()).not.toContain('one more secret')
})

it('S41: conversations are looked through once a day, by a clock that nobody sets', async () => {
  const { retention, mark, say, log, pass } = await rig([limit('rule')], () => limit('rule'))
  await mark('rule', NOW - 1_000)
  await retention.round()
  expect(await log()).not.toContain('an old secret')
  await say('one more secret')
  for (const ms of [0, DAY_MS - 1]) {
    pass(ms)
    await retention.round()
    expect(await log()).toContain('one more secret')
  }
  pass(1)
  await retention.round()
  expect(await log()).not.toContain('one more secret')
})

it.each([
  ['is shorter', { days: 20, seenAt: NOW }],
  ['was not looked at for days', { days: 10, seenAt: NOW - 3 * DAY_MS - 1 }],
])('S41: a limit that %s is reported anew, and removes nothing for a day', async (_, mark) => {
  const { store, retention, told, log } = await rig([limit('rule')], () => limit('rule'))
  const begun = { rule: 'rule', reportedAt: NOW - 9 * DAY_MS, startsAt: NOW - 8 * DAY_MS }
  await store.write((tx) => tx.forgetting.mark({ ...begun, ...mark }))
  await retention.round()
  expect(told).toEqual(['rule:10'])
  expect(await log()).toContain('an old secret')
})

it('S41: one that is longer, and was looked at yesterday, continues', async () => {
  const { store, retention, told, log } = await rig([limit('rule')], () => limit('rule'))
  const begun = { rule: 'rule', reportedAt: NOW - 9 * DAY_MS, startsAt: NOW - 8 * DAY_MS }
  await store.write((tx) => tx.forgetting.mark({ ...begun, days: 5, seenAt: NOW - 3 * DAY_MS }))
  await retention.round()
  expect(told).toEqual([])
  expect(await log()).not.toContain('an old secret')
})
