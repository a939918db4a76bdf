import type { MediaPart } from '../core/content.ts'

/** The images that models can be shown. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/**
 * Returns the kind of a file by its content alone: a name and what a sender says of it are not believed. The library
 * that knows the formats is loaded with the first file.
 */
export async function kindOf(bytes: Uint8Array): Promise<Pick<MediaPart, 'type' | 'mime'>> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(bytes)
  const mime = found?.mime ?? (isText(bytes) ? 'text/plain' : 'application/octet-stream')
  return { type: SHOWN_IMAGES.has(mime) ? 'image' : 'file', mime }
}

/** Text is UTF-8 without the characters that no text has. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
