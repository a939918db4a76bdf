import type { IncomingMessage } from 'node:http'
import { invalidField, invalidJson } from './api-error.ts'

export type Body = Readonly<Record<string, unknown>>

/** The body of a call: JSON, or the `payload_json` of a multipart form with the names of its files. */
export interface ReadBody {
  readonly body: Body
  readonly files: readonly string[]
}

export function readBody({ headers }: IncomingMessage, bytes: Buffer): ReadBody {
  const type = headers['content-type'] ?? ''
  if (bytes.length === 0) return { body: {}, files: [] }
  if (type.startsWith('multipart/form-data')) return readMultipart(type, bytes)
  if (!type.startsWith('application/json')) throw invalidField('_', 'CONTENT_TYPE', 'Expected "Content-Type" header')
  return { body: parseJson(bytes.toString()), files: [] }
}

function parseJson(text: string): Body {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidJson()
  }
  if (typeof value !== 'object' || value === null) throw invalidJson()
  // A list of commands is a body too; its reader checks it.
  return value as Body
}

function readMultipart(type: string, bytes: Buffer): ReadBody {
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1]
  if (boundary === undefined) throw invalidJson()
  const files: string[] = []
  let body: Body = {}
  // Every part ends with CRLF before the next boundary; the piece before the first boundary is empty.
  for (const part of bytes.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const split = part.indexOf('\r\n\r\n')
    const head = part.slice(0, split)
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1]
    const content = Buffer.from(part.slice(split + 4, -2), 'latin1').toString()
    if (name === 'payload_json') body = parseJson(content)
    else files.push(/;\s*filename="([^"]*)"/i.exec(head)?.[1] ?? name ?? 'file')
  }
  return { body, files }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
