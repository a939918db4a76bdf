import type { HonoRequest } from 'hono'
import { ParleyError } from '../core/errors.ts'
import { MOST_BODY_BYTES } from '../core/operator.ts'
import { tooLong } from './errors.ts'

/** The JSON object a request carries; else `invalid`, or `too_long` as soon as more has come than is read. */
export async function readBody(request: HonoRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = parsed(await readText(request))
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new ParleyError('invalid', 'Send a JSON object.')
}

/** Returns the body; nothing where it broke off. A body that comes in chunks does not say its length beforehand. */
async function readText({ raw }: HonoRequest): Promise<string> {
  const reader = raw.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true }
    if (done || value === undefined) return Buffer.concat(chunks).toString('utf8')
    length += value.length
    if (length > MOST_BODY_BYTES) throw tooLong()
    chunks.push(value)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text of the body; else `invalid`. */
export function bodyText(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new ParleyError('invalid', `"${name}" must be a text`)
}
