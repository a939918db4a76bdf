import { badRequest } from './api-error.ts'

/** The parameters of a call, as JSON values or as the strings of a form. */
export type Params = Readonly<Record<string, unknown>>

/** Returns an integer given as a number or as its digits; undefined if it is absent or empty. */
export function integerParam(params: Params, name: string): number | undefined {
  const value = params[name]
  if (value === undefined || value === null || value === '') return undefined
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw badRequest(`invalid ${name} specified`)
  return number
}

export function textParam(params: Params, name: string): string | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : String(value)
}

export function flagParam(params: Params, name: string): boolean {
  const value = params[name]
  return value === true || value === 1 || (typeof value === 'string' && /^(true|yes|1)$/i.test(value))
}

/** Returns a structured parameter: an object or array, or its JSON text in a form. */
export function structureParam(params: Params, name: string): unknown {
  const value = params[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    throw badRequest(`can't parse ${name.replaceAll('_', ' ')} JSON object`)
  }
}

export function recordParam(params: Params, name: string): Params | undefined {
  const value = structureParam(params, name)
  if (value === undefined) return undefined
  if (!isRecord(value)) throw badRequest(`object expected as ${name.replaceAll('_', ' ')}`)
  return value
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
