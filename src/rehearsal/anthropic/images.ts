import { isPictureType, isTorn, longestSide, pictureTypeOf } from '../pictures.ts'
import { invalid } from './api-error.ts'
import type { ContentBlock, RequestMessage } from './request.ts'

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
  if (!isPictureType(String(type))) {
    throw invalid(`${path}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`)
  }
  if (typeof data !== 'string') throw invalid(`${path}.data: Field required`)
  if (data.length > mostCharacters) {
    throw invalid(`${path}: image exceeds 5 MB maximum: ${data.length} bytes > ${mostCharacters} bytes`)
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalid(`${path}: invalid base64 data`)
  checkContent(Buffer.from(data, 'base64'), path, String(type))
}

/** The most pixels of a side; fewer in requests of many pictures, for each of them. */
const mostPixels = { few: 8000, many: 2000 }
const few = 20

/** Checks the sizes of all pictures of a request, also those in tool results. */
export function checkSizes(messages: readonly RequestMessage[]): void {
  const pictures = messages.flatMap(({ content }, index) =>
    typeof content === 'string' ? [] : picturesIn(content, `messages.${index}.content`),
  )
  const many = pictures.length > few
  for (const { at, side } of pictures) {
    const limit = side > mostPixels.few ? 'few' : 'many'
    if (side <= (many ? mostPixels.many : mostPixels.few)) continue
    const where = limit === 'many' ? ' for many-image requests' : ''
    throw invalid(
      `${at}.image.source.base64.data: At least one of the image dimensions exceed max allowed size${where}: ${mostPixels[limit]} pixels`,
    )
  }
}

function picturesIn(blocks: readonly ContentBlock[], at: string): { readonly at: string; readonly side: number }[] {
  return blocks.flatMap((block, nth) => {
    if (block.type === 'image') {
      const { data } = (block as { readonly source?: { readonly data?: string } }).source ?? {}
      return [{ at: `${at}.${nth}`, side: longestSide(Buffer.from(data ?? '', 'base64')) }]
    }
    return Array.isArray(block.content) ? picturesIn(block.content, `${at}.${nth}.tool_result.content`) : []
  })
}

/** A picture of another type, or of none, is refused in different words. */
function checkContent(bytes: Uint8Array, path: string, type: string): void {
  const found = pictureTypeOf(bytes)
  if (found === undefined || (found === type && isTorn(bytes))) throw invalid('Could not process image')
  if (found === type) return
  throw invalid(
    `${path}: The image was specified using the ${type} media type, but the image appears to be a ${found} image`,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
