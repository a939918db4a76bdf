import type { Dispatch } from './dispatch.ts'
import type { InboundEvent } from './message.ts'

/** Fields that say which thing is meant, not what somebody wrote. They stay as they are, with all that is in them. */
const IDS: ReadonlySet<string> = new Set([
  ...['address', 'answerBy', 'eventKey', 'id', 'kind', 'messageId', 'of', 'opens', 'original', 'ref', 'team'],
  ...['client', 'identity', 'media', 'participant', 'readers', 'route', 'scope', 'session', 'token'],
])

/** Returns the dispatch with `redact` made to every text that somebody wrote; the same object where nothing changes. */
export function redactDispatch(dispatch: Dispatch, redact: (text: string) => string): Dispatch {
  const { event, posted, schedule } = dispatch
  const clean = {
    event: redacted(event, redact),
    ...(posted && { posted: redacted(posted, redact) }),
    ...(schedule && { schedule: redacted(schedule, redact) }),
  }
  const same = clean.event === event && clean.posted === posted && clean.schedule === schedule
  return same ? dispatch : { ...dispatch, ...clean }
}

/** Does the same for an event that no entrance has taken. */
export function redactEvent(event: InboundEvent, redact: (text: string) => string): InboundEvent {
  return redacted(event, redact)
}

/** Does the same for what a file of another program or store says. The result has the type of what it is given. */
export function redacted<Value>(value: Value, redact: (text: string) => string): Value {
  return changed(value, redact) as Value
}

function changed(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => changed(item, redact))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  let copy: Record<string, unknown> | undefined
  for (const [key, inner] of Object.entries(value)) {
    const clean = IDS.has(key) ? inner : key === 'args' ? redactedWhole(inner, redact) : changed(inner, redact)
    if (clean === inner) continue
    copy ??= { ...value }
    copy[key] = clean
  }
  return copy ?? value
}

/**
 * Does it to every text and name, whatever a field is called: for what leaves the store, and for arguments of a tool,
 * which may call anything an id. A secret is taken out of each text by itself: in a whole line it might be a part of a
 * number.
 */
export function redactedWhole<Value>(value: Value, redact: (text: string) => string): Value {
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') return redact(item)
    if (Array.isArray(item)) return item.map(walk)
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([key, field]) => [redact(key), walk(field)]))
  }
  return walk(value) as Value
}
