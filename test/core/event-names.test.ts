import { expect, it } from 'vitest'
import { EVENT_TYPES } from '../../src/core/event.ts'
import { eventName, PUBLIC_EVENT_NAMES } from '../../src/core/event-names.ts'

it('gives every kind of event a public name of its own', () => {
  expect(new Set(PUBLIC_EVENT_NAMES).size).toBe(EVENT_TYPES.length)
  for (const type of EVENT_TYPES) expect(eventName({ type })).toMatch(/^(session:)?[a-z]+(_[a-z]+)*$/)
})

it('C5: names the events of the contract about a session and its turns with the prefix of the contract', () => {
  const names = (['session_started', 'turn_started', 'turn_completed', 'turn_cancelled'] as const).map((type) =>
    eventName({ type }),
  )
  expect(names).toEqual(['session:started', 'session:turn_started', 'session:turn_completed', 'session:turn_cancelled'])
})
