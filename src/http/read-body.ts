import type { HonoRequest } from 'hono'
import { ParleyError } from '../core/errors.ts'
import { MOST_BODY_BYTES } from '../core/operator.ts'
import { tooLong } from './errors.ts'

/**
 * Returns the JSON object of a request. Throws `invalid` for any other body, and `too_long` as soon as it exceeds the
 * limit.
 */
export async function readBody(
  request: HonoRequest,
  most = MOST_BODY_BYTES,
): Promise<Readonly<Record<string, unknown>>> {
  const body = parsed((await readBytes(request, most)).toString('utf8'))
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new ParleyError('invalid', 'Send a JSON object.')
}

/**
 * Returns the body; empty if it broke off. A body that comes in chunks does not announce its length: throws `too_long`
 * as soon as it exceeds the limit.
 */
export async function readBytes({ raw }: Pick<HonoRequest, 'raw'>, most = MOST_BODY_BYTES): Promise<Buffer> {
  const reader = raw.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true }
    if (done || value === undefined) return Buffer.concat(chunks)
    length += value.length
    if (length > most) throw tooLong(most)
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
