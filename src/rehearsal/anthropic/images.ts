import { invalid } from './api-error.ts'

/** The types of picture that the API knows, each with the bytes its files begin with. */
const beginnings: Readonly<Record<string, readonly number[]>> = {
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
}
/** The limit of one picture, counted in characters of its base64. */
const mostCharacters = 5_242_880

/** Checks the source of an image block, at `at`, as the API does. Only base64 sources are rehearsed. */
export function checkImage(block: Readonly<Record<string, unknown>>, at: string): void {
  const { source } = block
  if (!isObject(source)) throw invalid(`${at}.image.source: Field required`)
  if (source.type !== 'base64') {
    throw invalid(`${at}.image.source: Input tag '${String(source.type)}' found using 'type' is not rehearsed`)
  }
  const path = `${at}.image.source.base64`
  const { media_type: type, data } = source
  const begins = beginnings[String(type)]
  if (begins === undefined) {
    throw invalid(`${path}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`)
  }
  if (typeof data !== 'string') throw invalid(`${path}.data: Field required`)
  if (data.length > mostCharacters) {
    throw invalid(`${path}: image exceeds 5 MB maximum: ${data.length} bytes > ${mostCharacters} bytes`)
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalid(`${path}: invalid base64 data`)
  checkContent(Buffer.from(data, 'base64'), { path, type: String(type), begins })
}

interface Claimed {
  readonly path: string
  readonly type: string
  readonly begins: readonly number[]
}

/** A picture of another type, or of none, is refused in different words. */
function checkContent(bytes: Uint8Array, { path, type, begins }: Claimed): void {
  if (begins.every((byte, at) => bytes[at] === byte)) {
    if (bytes.length < 32) throw invalid('Could not process image')
    return
  }
  const found = Object.entries(beginnings).find(([, other]) => other.every((byte, at) => bytes[at] === byte))
  if (found === undefined) throw invalid('Could not process image')
  throw invalid(
    `${path}: The image was specified using the ${type} media type, but the image appears to be a ${found[0]} image`,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
