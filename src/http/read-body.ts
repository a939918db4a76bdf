import { isUtf8 } from 'node:buffer'
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
  const bytes = await readBytes(request, most)
  // Read all the same, it would be stored with other words than were sent.
  if (!isUtf8(bytes)) throw new ParleyError('invalid', 'The body is not UTF-8: JSON is sent in nothing else.')
  const body = parsed(bytes.toString('utf8'))
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new ParleyError('invalid', 'Send a JSON object.')
}

/**
 * Returns the body. A body that comes in chunks does not announce its length: throws `too_long` as soon as it exceeds
 * the limit, and `invalid` for one that is compressed, or that broke off, of which nothing counts.
 */
export async function readBytes({ raw }: Pick<HonoRequest, 'raw'>, most = MOST_BODY_BYTES): Promise<Buffer> {
  const encoding = raw.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new ParleyError('invalid', 'The header Content-Encoding must be identity: send the body as it is.')
  const reader = raw.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = (await reader?.read().catch(brokenOff)) ?? { done: true }
    if (done || value === undefined) return Buffer.concat(chunks)
    length += value.length
    if (length > most) throw tooLong(most)
    chunks.push(value)
  }
}

function brokenOff(): never {
  throw new ParleyError('invalid', 'The body broke off.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
