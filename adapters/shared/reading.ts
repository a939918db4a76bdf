import type { InboundEvent } from '../../src/core/message.ts'
import { Malformed } from './fields.ts'

/** `dropped`: nothing for the pipeline; `why` is a short word to count it under, never text of a person. */
export type InboundReading =
  | { readonly kind: 'event'; readonly event: InboundEvent }
  | { readonly kind: 'dropped'; readonly why: string }

export function dropped(why: string): Extract<InboundReading, { kind: 'dropped' }> {
  return { kind: 'dropped', why }
}

/**
 * Makes a reader total: what it throws is `malformed:<kind>` where the payload is not what it should be, and
 * `unreadable:<kind>` where we made a mistake. Neither may stop anything: the event would come again and again.
 */
export function readSafely(kind: string, read: () => InboundReading): InboundReading {
  try {
    return read()
  } catch (error) {
    return dropped(`${error instanceof Malformed ? 'malformed' : 'unreadable'}:${kind}`)
  }
}

/**
 * Returns a platform's name for something as a word to count by; anything odd is `other`, so that counters stay few.
 */
export function wordOf(name: unknown): string {
  return typeof name === 'string' && /^[a-z_.]{1,40}$/.test(name) ? name : 'other'
}
