import type { ChatType } from '../../../src/core/address.ts'
import { toChatType, toIdText } from '../address.ts'

/**
 * Typed reading of parsed JSON. The platform's types are a promise, not a proof: whatever enters an event is checked
 * here, and one update that is not what it should be is dropped and counted instead of stopping the loop (G01).
 */
export class MalformedUpdate extends Error {
  override readonly name = 'MalformedUpdate'
}

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw new MalformedUpdate('an object is missing')
  return value
}

export function optionalFields(value: unknown): Fields | undefined {
  return value === undefined ? undefined : fieldsOf(value)
}

export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new MalformedUpdate('a list is missing')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new MalformedUpdate('a text is missing')
  return value
}

export function optionalText(value: unknown): string | undefined {
  return value === undefined ? undefined : textOf(value)
}

export function countOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedUpdate('a count is missing')
  }
  return value
}

export function idOf(value: unknown): string {
  const id = toIdText(value)
  if (id === undefined) throw new MalformedUpdate('an id is missing or not exact')
  return id
}

export function chatTypeOf(value: unknown): ChatType {
  const type = toChatType(value)
  if (type === undefined) throw new MalformedUpdate('the chat type is not known')
  return type
}

/** Seconds since the epoch, as the platform counts, to milliseconds. */
export function timeOf(value: unknown): number {
  return countOf(value) * 1000
}

/** `{ key: value }`, or nothing when there is no value: for optional fields under exactOptionalPropertyTypes. */
export function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]: Value })
}
