import type { MediaPart } from '../core/content.ts'
import { readImageHeader } from './image-header.ts'
import { isUtf16, readText } from './read-text.ts'

/** The images that models can be shown. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Pixels a side: providers refuse more. */
export const MOST_SIDE = 8_000

/**
 * Returns the kind of a file by its content alone: a name and what a sender says of it are not believed. A picture that
 * moves, or is larger than any model takes, is a file. The library that knows the formats is loaded with the first.
 */
export async function kindOf(bytes: Uint8Array): Promise<Pick<MediaPart, 'type' | 'mime'>> {
  // Text in UTF-16 begins as a recording may.
  if (isUtf16(bytes) && readText(bytes) !== undefined) return { type: 'file', mime: 'text/plain' }
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(bytes)
  const mime = found?.mime.split(';')[0] ?? (readText(bytes) === undefined ? 'application/octet-stream' : 'text/plain')
  return { type: SHOWN_IMAGES.has(mime) && !cannotBeShown(mime, bytes) ? 'image' : 'file', mime }
}

/** Returns the reason why no model takes a picture; undefined for one whose header says nothing against it. */
export function cannotBeShown(mime: string, bytes: Uint8Array): string | undefined {
  if (!SHOWN_IMAGES.has(mime)) return undefined
  const header = readImageHeader(mime, bytes)
  if (header === undefined) return undefined
  const { width, height, moves } = header
  if (moves) return 'a moving picture'
  if (width === 0 || height === 0) return `${width} × ${height} pixels, so there is nothing to see`
  return Math.max(width, height) > MOST_SIDE ? `${width} × ${height} pixels, more than models take` : undefined
}
