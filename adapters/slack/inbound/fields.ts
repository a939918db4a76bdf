/**
 * Typed reading of parsed JSON. The platform's types are a promise, not a proof: whatever enters an event is checked
 * here, and one event that is not what it should be is dropped and counted instead of stopping anything (G01).
 */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent'
}

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw new MalformedEvent('an object is missing')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new MalformedEvent('a text is missing')
  return value
}

export function optionalText(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value)
}

/** An id of the platform: upper-case letters and digits. */
export function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Z][A-Z0-9]+$/.test(value)) throw new MalformedEvent('an id is missing')
  return value
}
