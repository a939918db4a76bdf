import type { IncomingMessage } from 'node:http'
import { badRequest } from './api-error.ts'
import type { Params } from './params.ts'
import { isRecord } from './params.ts'

/**
 * Reads the parameters of a call from its query string and its body: JSON, urlencoded, or multipart without files.
 * Values of the body win.
 * @param onFile called before a multipart request with a file is refused
 */
export function readParams(request: IncomingMessage, body: Buffer, onFile: () => void): Params {
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  const fromBody = body.length === 0 ? {} : parseBody(request.headers['content-type'] ?? '', body, onFile)
  return mark === -1 ? fromBody : { ...formFields(url.slice(mark + 1)), ...fromBody }
}

function parseBody(contentType: string, body: Buffer, onFile: () => void): Params {
  if (contentType.startsWith('application/json')) return parseJson(body)
  if (contentType.startsWith('multipart/form-data')) return parseMultipart(contentType, body, onFile)
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

function parseMultipart(contentType: string, body: Buffer, onFile: () => void): Params {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1]
  if (boundary === undefined) throw badRequest("can't parse multipart request: boundary is missing")
  const fields: Record<string, string> = {}
  // Every part ends with CRLF before the next boundary; the piece before the first boundary is empty.
  for (const part of body.toString().split(`--${boundary}`).slice(1, -1)) {
    const split = part.indexOf('\r\n\r\n')
    const head = part.slice(0, split)
    if (/;\s*filename\*?=/i.test(head)) {
      onFile()
      throw badRequest('file uploads are not rehearsed')
    }
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1]
    if (split !== -1 && name !== undefined) fields[name] = part.slice(split + 4, -2)
  }
  return fields
}
