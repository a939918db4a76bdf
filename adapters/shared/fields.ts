/**
 * Typed reading of parsed JSON. A platform's types are a promise, not a proof: whatever enters an event is checked
 * here. A reader throws `Malformed` at anything but its type; a value that is null counts as absent, as one that is
 * left out.
 */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw new Malformed('an object is missing')
  return value
}

export function optionalFields(value: unknown): Fields | undefined {
  return isAbsent(value) ? undefined : fieldsOf(value)
}

/** Returns an empty list for one that is absent. */
export function listOf(value: unknown): readonly unknown[] {
  if (isAbsent(value)) return []
  if (!Array.isArray(value)) throw new Malformed('a list is missing')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Malformed('a text is missing')
  return value
}

export function optionalText(value: unknown): string | undefined {
  return isAbsent(value) ? undefined : textOf(value)
}

/** Returns a name or the like, without which a message is as good; undefined for anything but a text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a part of a message, or undefined where it is malformed: the message is worth more than the part. */
export function readPart<Part>(read: () => Part): Part | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

/** Reads a whole number that is exact and not negative. */
export function countOf(value: unknown): number {
  if (!isCount(value)) throw new Malformed('a count is missing')
  return value
}

/** Returns the size of a file. The message is worth more than that: a size that cannot be is none. */
export function sizeOf(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Reads an ISO 8601 time, to ms since the epoch. */
export function isoTimeOf(value: unknown): number {
  const ms = Date.parse(textOf(value))
  if (Number.isNaN(ms)) throw new Malformed('a time is missing')
  return ms
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/**
 * Returns `{ key: value }`, or nothing when there is no value: for optional fields under exactOptionalPropertyTypes.
 */
export function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]: Value })
}
