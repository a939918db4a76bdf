import { afterEach, describe, expect, it } from 'vitest'
import { parseKeep, surplus } from '../../src/backup/keep.ts'
import { readLastBackup, recordBackup } from '../../src/backup/last-backup.ts'
import type { Config } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { nextBackup, startBackups } from '../../src/daemon/backup-schedule.ts'
import { movedClock } from '../agent/moved-clock.ts'
import { temporaryFolder } from '../config/loading.ts'
import { mulberry } from '../faults/random.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const zone = process.env.TZ

afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const at = (text: string) => ({ madeAt: Date.parse(text) })
const left = (copies: readonly { readonly madeAt: number }[], rule: string) => {
  const gone = new Set(surplus(copies, parseKeep(rule)))
  return copies.filter((copy) => !gone.has(copy))
}

describe('parseKeep', () => {
  it('takes each unit once, with spaces around it', () =>
    expect(parseKeep('1h, 2d,3w ,4m,5y')).toEqual({ h: 1, d: 2, w: 3, m: 4, y: 5 }))

  it.each(['', '7', 'd7', '0d', '7d,7d', '-1d', '7d;4w', '7d,', '99999d'])(
    '"%s" is refused with an example',
    (text) => {
      expect(() => parseKeep(text)).toThrow(/7d,4w,12m/)
    },
  )
})

describe('surplus', () => {
  it('keeps the newest copy of each of the last days that have one, whatever the time between', () => {
    const copies = ['2026-01-01T01:00', '2026-01-01T09:00', '2026-03-05T01:00', '2026-03-09T01:00'].map((text) =>
      at(text),
    )
    expect(left(copies, '3d')).toEqual(copies.slice(1))
    expect(left(copies, '1d')).toEqual(copies.slice(3))
  })

  it('keeps days by the calendar of the machine where the clocks change', () => {
    process.env.TZ = 'Europe/Berlin'
    // 25 hours: 02:30 comes twice. In UTC the first of them is of the day before.
    const day = ['2026-10-24T22:10Z', '2026-10-25T00:30Z', '2026-10-25T01:30Z', '2026-10-25T22:50Z'].map(at)
    expect(left(day, '5d')).toEqual([day[3]])
    expect(left(day, '5h')).toEqual(day)
    // 23 hours: 02:30 is missing.
    const short = ['2026-03-28T23:10Z', '2026-03-29T21:50Z', '2026-03-29T22:10Z'].map(at)
    expect(left(short, '5d')).toEqual([short[1], short[2]])
  })

  it('for any times, also of a clock that jumped: keeps the newest, no more than the rule says, and is settled at once', () => {
    for (const tz of ['UTC', 'Europe/Berlin', 'Pacific/Apia', 'America/St_Johns']) {
      process.env.TZ = tz
      for (let seed = 1; seed <= 60; seed++) {
        const random = mulberry(seed)
        let now = Date.UTC(2026, Math.floor(random() * 12), 1)
        const copies = Array.from({ length: 1 + Math.floor(random() * 60) }, () => {
          now += random() < 0.05 ? (random() - 0.5) * 900 * DAY_MS : random() * 2 * DAY_MS
          return { madeAt: Math.round(now) }
        })
        const kept = left(copies, '7d,4w,3m')
        const newest = Math.max(...copies.map(({ madeAt }) => madeAt))
        expect(kept.some(({ madeAt }) => madeAt === newest)).toBe(true)
        expect(kept.length).toBeLessThanOrEqual(14)
        expect(left(kept, '7d,4w,3m')).toEqual(kept)
        const days = new Set(kept.map(({ madeAt }) => new Date(madeAt).toDateString()))
        const had = new Set(copies.map(({ madeAt }) => new Date(madeAt).toDateString()))
        expect(days.size).toBeGreaterThanOrEqual(Math.min(7, had.size))
      }
    }
  })
})

describe('nextBackup', () => {
  const daily = { every: 'day', at: '03:00', keep: '7d' } as const
  const now = Date.parse('2026-11-29T12:00Z')

  it('is at once where there never was one, and after a night off', () => {
    process.env.TZ = 'UTC'
    expect(nextBackup(daily, undefined, now)).toBeLessThanOrEqual(now)
    expect(nextBackup(daily, { at: now - 33 * HOUR_MS }, now)).toBeLessThanOrEqual(now)
  })

  it('is at the next time of day, on the next Monday, or after so many hours', () => {
    process.env.TZ = 'Europe/Berlin'
    expect(new Date(nextBackup(daily, { at: now - HOUR_MS }, now)).toISOString()).toBe('2026-11-30T02:00:00.000Z')
    const weekly = { ...daily, every: 'week' } as const
    expect(new Date(nextBackup(weekly, { at: now - HOUR_MS }, now)).toISOString()).toBe('2026-11-30T02:00:00.000Z')
    expect(nextBackup({ ...daily, every: 6 }, { at: now - HOUR_MS }, now)).toBe(now + 5 * HOUR_MS)
  })

  it('is an hour after a failure, and not kept away by a copy of a time to come', () => {
    expect(nextBackup(daily, { failedAt: now - 60_000 }, now)).toBe(now - 60_000 + HOUR_MS)
    expect(nextBackup(daily, { at: now + 400 * DAY_MS }, now)).toBeLessThanOrEqual(now)
    expect(nextBackup({ ...daily, every: 6 }, { at: now + 400 * DAY_MS }, now)).toBeLessThanOrEqual(now)
  })
})

describe('startBackups', () => {
  it('notifies owners once that backups fail, however often they do, and once that they are made again', async () => {
    const clock = movedClock()
    const dataDir = temporaryFolder()
    const said: string[] = []
    const ends = [undefined, 'the disk is full', 'the disk is full', undefined, undefined]
    const config = {
      ...{ dataDir, backup: { every: 1, at: '03:00', keep: '7d' } },
      channels: { telegram: { accounts: { default: {} } } },
    } as unknown as Config
    startBackups({
      ...{ config, clock, logger: silentLogger },
      notify: ({ where, notice }) => said.push(`${where.channel} ${where.account} ${notice.about}: ${notice.text}`),
      async make() {
        const reason = ends.shift()
        if (reason === undefined) recordBackup(dataDir, { at: clock.now(), path: '/copies/one', bytes: 1 })
        return reason
      },
    })
    for (let left = ends.length; left > 0; left = ends.length) {
      // The next attempt is an hour away, and it is looked at every ten minutes.
      clock.advance(clock.pending() === 0 ? 0 : 600_000)
      if (ends.length < left) await clock.timerOf(600_000)
      if (ends.length === 3) expect(said).toHaveLength(1)
    }
    expect(said).toEqual([
      expect.stringMatching(/^telegram default backup: My backup failed: the disk is full\. I try again each hour/),
      'telegram default backup: Backups are made again: /copies/one.',
    ])
    expect(readLastBackup(dataDir)?.failedAt).toBeUndefined()
  })
})
