import type { IncomingMessage } from 'node:http'
import { readForm, UploadedFile } from '../uploads.ts'
import { badRequest } from './api-error.ts'
import type { Params } from './params.ts'
import { isRecord } from './params.ts'

/**
 * Reads the parameters of a call from its query string and its body: JSON, urlencoded, or multipart, where a file is an
 * `UploadedFile`. Values of the body win.
 */
export function readParams(request: IncomingMessage, body: Buffer): Params {
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  const fromBody = body.length === 0 ? {} : parseBody(request.headers['content-type'] ?? '', body)
  return mark === -1 ? fromBody : { ...formFields(url.slice(mark + 1)), ...fromBody }
}

function parseBody(contentType: string, body: Buffer): Params {
  if (contentType.startsWith('application/json')) return parseJson(body)
  if (contentType.startsWith('multipart/form-data')) return parseMultipart(contentType, body)
  return formFields(body.toString())
}

function parseJson(body: Buffer): Params {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    throw badRequest("can't parse JSON object")
  }
  if (!isRecord(value)) throw badRequest('object expected')
  return value
}

function formFields(text: string): Params {
  return Object.fromEntries(new URLSearchParams(text))
}

function parseMultipart(contentType: string, body: Buffer): Params {
  const parts = readForm(contentType, body)
  if (parts === undefined) throw badRequest("can't parse multipart request")
  return Object.fromEntries(
    parts.map(({ name, content, file }) => [
      name,
      file === undefined ? content.toString() : new UploadedFile(file.name, file.type, content),
    ]),
  )
}
