import { SlackApiError } from './slack-error.ts'

/** The raw arguments of a call: texts of a form, or values of a JSON body. */
export type Params = Readonly<Record<string, unknown>>

/** Reads a form or a JSON body. Throws the platform's refusal for any other. */
export function readParams(contentType: string, body: Buffer): Params {
  if (body.length === 0) return {}
  if (contentType.startsWith('application/json')) return recordOf(parseJson(body.toString('utf8')))
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(body.toString('utf8')))
  }
  throw new SlackApiError('invalid_post_type')
}

export function textParam(params: Params, name: string): string | undefined {
  const value = params[name]
  if (value === undefined || value === null || value === '') return undefined
  return String(value)
}

export function flagParam(params: Params, name: string): boolean {
  return ['true', '1', true, 1].includes(params[name] as string)
}

export function countParam(params: Params, name: string, bounds: { least: number; most: number; usual: number }) {
  const value = params[name]
  if (value === undefined || value === '') return bounds.usual
  const number = Number(value)
  if (!Number.isInteger(number) || number < bounds.least || number > bounds.most) {
    throw new SlackApiError('invalid_arguments')
  }
  return number
}

/** Returns a structured argument, which in a form is JSON text; undefined when it is absent. */
export function structureParam(params: Params, name: string, refusal: string): unknown {
  const value = params[name]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    throw new SlackApiError(refusal)
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SlackApiError('json_not_object')
  }
}

function recordOf(value: unknown): Params {
  if (!isRecord(value)) throw new SlackApiError('json_not_object')
  return value
}
