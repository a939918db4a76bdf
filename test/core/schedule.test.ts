import { expect, it, test } from 'vitest'
import { scheduleSessionId, toScheduleId } from '../../src/core/ids.ts'
import { formatMissed, parseMissed } from '../../src/core/schedule.ts'

test.each(['skip', 'once', 'all(1)', 'all(100)'])('the policy %s reads and writes as one', (text) => {
  const policy = parseMissed(text)
  expect(policy && formatMissed(policy)).toBe(text)
})

test.each(['', 'all', 'all(0)', 'all(101)', 'all(-1)', 'all(1.5)', 'never'])('%j is no policy', (text) => {
  expect(parseMissed(text)).toBeUndefined()
})

it('S2: the session of a schedule is named after it', () => {
  expect(scheduleSessionId(toScheduleId('morning'))).toBe('schedule:morning')
})
