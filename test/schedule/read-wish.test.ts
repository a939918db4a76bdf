import { describe, expect, test } from 'vitest'
import type { ScheduleWish } from '../../src/core/chat-schedules.ts'
import { readWish } from '../../src/schedule/read-wish.ts'

const BERLIN = 'Europe/Berlin'
/** Tuesday, 10:20 in Berlin. */
const NOW = Date.parse('2026-11-24T09:20:00Z')

const wish = (more: Partial<ScheduleWish>) => readWish({ text: 'x', task: false, ...more }, { at: NOW, home: BERLIN })

describe('a wish', () => {
  test.each([
    [{ every: '30m' }, { every: 1_800_000, from: NOW + 1_800_000 }],
    [{ every: 'hour' }, { every: 3_600_000, from: NOW + 3_600_000 }],
    [{ every: '1d' }, { every: 86_400_000, from: NOW + 86_400_000 }],
    [{ every: 'monday and thursday at 8' }, { cron: '0 8 * * 1,4' }],
    [{ every: 'every monday at 8' }, { cron: '0 8 * * 1' }],
    [{ at: 'every monday at 8' }, { cron: '0 8 * * 1' }],
    [{ at: '2026-11-27T17:00' }, { at: Date.parse('2026-11-27T16:00:00Z') }],
    [
      { at: '2026-11-27T17:00', timezone: 'Asia/Tokyo' },
      { at: Date.parse('2026-11-27T08:00:00Z'), timezone: 'Asia/Tokyo' },
    ],
    [{ cron: '0 8 * * 1' }, { cron: '0 8 * * 1' }],
  ])('%j', (more, timing) => expect(wish(more)).toEqual({ timezone: BERLIN, ...timing }))

  test.each([
    [{}, 'exactly one'],
    [{ at: 'tomorrow', every: '1h' }, 'exactly one'],
    [{ at: 'yesterday at 9' }, 'is over'],
    [{ at: 'when pigs fly' }, 'is no time'],
    [{ at: '2040-01-01T00:00' }, 'more than five years'],
    [{ every: '1m' }, 'too often'],
    [{ every: '1m until tomorrow' }, 'too often'],
    [{ every: 'soon' }, 'is no time'],
    [{ every: '3000 days' }, 'more than five years'],
    [{ cron: '* * * * *' }, 'too often'],
    [{ cron: '0,2 8 * * *' }, 'too often'],
    [{ cron: 'whenever' }, 'write five fields'],
    [{ at: 'tomorrow', timezone: 'Mars/Base' }, 'there is no time zone Mars/Base'],
    [{ at: 'tomorrow', text: ' ' }, 'There is no text'],
    [{ at: 'tomorrow', text: 'x'.repeat(2_001) }, 'longer than 2000'],
  ])('%j is refused with the reason', (more, reason) => {
    expect(() => wish(more)).toThrow(reason)
  })
})
