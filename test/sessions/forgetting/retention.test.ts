import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createRetention } from '../../../src/sessions/forgetting/retention.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const DAY_MS = 86_400_000

it('S41: a limit that was reported while the clock was ahead begins a day from now at the latest', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const now = 100 * DAY_MS
  const [ahead, soon] = [now + 400 * DAY_MS, now + 1_000]
  const mark = (rule: string, startsAt: number) =>
    store.write((tx) => tx.forgetting.mark({ rule, days: 10, reportedAt: startsAt - DAY_MS, startsAt, seenAt: now }))
  await mark('ahead', ahead)
  await mark('soon', soon)
  const told: string[] = []
  const retention = createRetention({
    ...{ store, clock: systemClock, logger: silentLogger, ageingTime: () => now },
    limits: { all: ['ahead', 'soon'].map((key) => ({ key, rule: key, days: 10 })), of: () => undefined },
    tellOwners: (about) => void told.push(about),
    forgetFiles: async () => 0,
    stopping: () => false,
    dropSchedule: async () => {},
    dropView: () => {},
  })
  await retention.round()
  const marks = await store.read.forgetting.marks()
  expect(marks.map(({ rule, startsAt }) => [rule, startsAt])).toEqual([
    ['ahead', now + DAY_MS],
    ['soon', soon],
  ])
  expect(told).toEqual([])
})
