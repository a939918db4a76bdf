import { ParleyError } from '../core/errors.ts'

/** A query value that must be there and not be empty; else `invalid`. */
export function readText(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === '') throw new ParleyError('invalid', `"${name}" is missing`)
  return value
}

/** A whole number, not negative; `fallback` where none is given; else `invalid`. */
export function readCount(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(count)) throw new ParleyError('invalid', `"${name}" must be a whole number`)
  return count
}

/** `true` or `false`; absent is false; else `invalid`. */
export function readFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw new ParleyError('invalid', `"${name}" must be true or false`)
}
