import { isPictureType, isTorn, pictureTypeOf } from '../pictures.ts'
import { ChatError, emptyArray, invalid, missing, wrongType, wrongValue } from './api-error.ts'
import { isObject } from './request.ts'

const partTypes = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file']

/** Checks the content of the message at `at`, whose role is known to be good. */
export function checkContent(content: unknown, role: string, at: string): void {
  if (typeof content === 'string') return
  if (content === null) {
    throw invalid(`Invalid value for 'content': expected a string, got null.`, `${at.replace('[', '.[')}.content`)
  }
  const path = `${at}.content`
  if (!Array.isArray(content)) throw wrongType(path, 'one of a string or array of objects', content)
  if (content.length === 0) throw emptyArray(path)
  for (const [nth, part] of content.entries()) checkPart(part, { role, at, path: `${path}[${nth}]` })
}

interface PartPlace {
  readonly role: string
  readonly at: string
  readonly path: string
}

function checkPart(part: unknown, { role, at, path }: PartPlace): void {
  if (!isObject(part)) throw wrongType(path, 'an object', part)
  const { type } = part
  if (type === undefined) throw missing(`${path}.type`)
  if (typeof type !== 'string' || !partTypes.includes(type)) throw wrongValue(`${path}.type`, type, partTypes)
  if (type === 'text') {
    if (part.text === undefined) throw missing(`${path}.text`)
    if (typeof part.text !== 'string') throw wrongType(`${path}.text`, 'a string', part.text)
    return
  }
  if (type !== 'image_url') {
    if (type === 'refusal' && role === 'assistant') return
    throw invalid(`Content parts of the type '${type}' are not rehearsed in messages with role '${role}'.`, path)
  }
  if (role !== 'user') {
    throw invalid(
      `Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
      at,
      'invalid_value',
    )
  }
  checkPicture(part.image_url, `${path}.image_url`)
}

const details = ['auto', 'low', 'high', 'original']

/** Checks a picture. A server on the loop-back loads none, so that only `data:` URLs pass. */
function checkPicture(picture: unknown, path: string): void {
  if (picture === undefined) throw missing(path)
  if (!isObject(picture)) throw wrongType(path, 'an object', picture)
  const { url, detail } = picture
  if (url === undefined) throw missing(`${path}.url`)
  if (typeof url !== 'string') throw wrongType(`${path}.url`, 'a string', url)
  if (detail !== undefined && !details.includes(String(detail))) throw wrongValue(`${path}.detail`, detail, details)
  if (/^https?:/.test(url)) throw invalid(`Failed to download image from ${url}.`, `${path}.url`, 'invalid_image_url')
  const [, type = '', data = ''] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []
  if (type === '') throw invalid(`Invalid '${path}.url'. Expected a valid URL.`, `${path}.url`, 'invalid_value')
  if (!type.startsWith('image/')) {
    throw invalid('Invalid MIME type. Only image types are supported.', null, 'invalid_image_format')
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalid('Invalid base64 image_url.', null, 'invalid_base64')
  const bytes = Buffer.from(data, 'base64')
  if (!isPictureType(type) || pictureTypeOf(bytes) === undefined || isTorn(bytes)) {
    throw new ChatError(
      400,
      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      { code: 'invalid_image_format' },
    )
  }
}
