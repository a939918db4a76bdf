import type { EventDraft } from './event.ts'
import type { Opaque } from './model.ts'

/** Characters of JSON: more than any model thinks in a step. */
const MOST_CHARACTERS = 1_000_000
/** With room for the lines of a bundle, which may have 500. */
const MOST_LEVELS = 100

/** Returns true if the opaque fields of a step may be stored: they are JSON of a bounded size. Never throws. */
export function isStorable(opaque: Opaque): boolean {
  try {
    if (opaque.data === undefined || JSON.stringify(opaque).length > MOST_CHARACTERS) return false
    return !isDeeper(opaque.data, MOST_LEVELS)
  } catch {
    return false
  }
}

/**
 * Returns an event as it leaves the daemon for anything but a bundle (C26): for hooks and pages of the log. Every other
 * report of an event names the fields that it shows, and `opaque` is none of them.
 */
export function withoutOpaque<Event extends EventDraft>(event: Event): Event {
  if (event.type !== 'assistant_step' || event.data.opaque === undefined) return event
  const { opaque: _opaque, ...data } = event.data
  return { ...event, data }
}

/**
 * Returns true if a JSON value has more levels than these. Whatever reads or writes a value goes down its levels by
 * calls, of which there are only so many; this does not.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
