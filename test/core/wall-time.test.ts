import { expect, test } from 'vitest'
import { withLocalTimes } from '../../src/core/wall-time.ts'

test('instants of a text are read in the zone of whoever reads it, and nothing else changes', () => {
  expect(withLocalTimes('muted until 2026-11-24T09:40:00.000Z, of 2026-11-24', 'Europe/Berlin')).toBe(
    'muted until 2026-11-24 10:40 (Europe/Berlin), of 2026-11-24',
  )
  expect(withLocalTimes('from 2026-03-29T01:30:00.000Z', 'Europe/Berlin')).toBe('from 2026-03-29 03:30 (Europe/Berlin)')
  expect(withLocalTimes('at 2026-11-24T09:40Z', 'Europe/Berlin')).toBe('at 2026-11-24T09:40Z')
})
