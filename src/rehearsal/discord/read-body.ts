import type { IncomingMessage } from 'node:http'
import { readForm, UploadedFile } from '../uploads.ts'
import { invalidField, invalidJson, tooLarge } from './api-error.ts'

export type Body = Readonly<Record<string, unknown>>

/** The body of a call: JSON, or the `payload_json` of a multipart form with its files. */
export interface ReadBody {
  readonly body: Body
  readonly files: readonly UploadedFile[]
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

/** Files are `files[0]` to `files[9]`, in order. */
function readMultipart(type: string, bytes: Buffer): ReadBody {
  const parts = readForm(type, bytes)
  if (parts === undefined) throw invalidJson()
  const files: UploadedFile[] = []
  let body: Body = {}
  for (const { name, content, file } of parts) {
    if (name === 'payload_json') body = parseJson(content.toString())
    else if (file === undefined || name !== `files[${files.length}]`)
      throw invalidField(name, 'UNKNOWN', 'Unknown field')
    else files.push(new UploadedFile(file.name, file.type, content))
  }
  if (files.length > MOST_FILES)
    throw invalidField('attachments', 'BASE_TYPE_MAX_LENGTH', 'Must be 10 or fewer in length.')
  if (files.some(({ size }) => size > MOST_BYTES)) throw tooLarge()
  return { body, files }
}

const MOST_FILES = 10
const MOST_BYTES = 10 * 1024 * 1024

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
