import type { HonoRequest } from 'hono'
import { ParleyError } from '../core/errors.ts'

/** The JSON object a request carries; else `invalid`. */
export async function readBody(request: HonoRequest): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await request.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new ParleyError('invalid', 'Send a JSON object.')
}

/** A text of the body; else `invalid`. */
export function bodyText(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new ParleyError('invalid', `"${name}" must be a text`)
}
