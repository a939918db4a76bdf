import { isSnowflake } from '../address.ts'

/**
 * Typed reading of parsed JSON. The platform's types are a promise, not a proof: whatever enters an event is checked
 * here, and a dispatch that is not what it should be is dropped and counted instead of stopping anything.
 */
export class MalformedDispatch extends Error {
  override readonly name = 'MalformedDispatch'
}

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw new MalformedDispatch('an object is missing')
  return value
}

/** The platform writes null for what is not there. */
export function optionalFields(value: unknown): Fields | undefined {
  return value === undefined || value === null ? undefined : fieldsOf(value)
}

export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new MalformedDispatch('a list is missing')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new MalformedDispatch('a text is missing')
  return value
}

export function optionalText(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value)
}

export function idOf(value: unknown): string {
  if (!isSnowflake(value)) throw new MalformedDispatch('an id is missing')
  return value
}

/** An ISO 8601 time, to ms since the epoch. */
export function timeOf(value: unknown): number {
  const ms = Date.parse(textOf(value))
  if (Number.isNaN(ms)) throw new MalformedDispatch('a time is missing')
  return ms
}

/** `{ key: value }`, or nothing when there is no value: for optional fields under exactOptionalPropertyTypes. */
export function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]: Value })
}
