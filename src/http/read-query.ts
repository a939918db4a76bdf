import { ParleyError } from '../core/errors.ts'

/** Returns a query value. Throws `invalid` if it is missing or empty. */
export function readText(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === '') throw new ParleyError('invalid', `"${name}" is missing`)
  return value
}

/** Returns a whole number that is not negative, `fallback` if none is given. Throws `invalid` for any other value. */
export function readCount(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(count)) throw new ParleyError('invalid', `"${name}" must be a whole number`)
  return count
}

/** Returns true for `true`, false for `false` or no value. Throws `invalid` for any other. */
export function readFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw new ParleyError('invalid', `"${name}" must be true or false`)
}
