import type { Content, MediaPart } from './content.ts'
import { plainName } from './label.ts'

/** Returns the content as text alone: each file is named where it stands. For people, and models that see no files. */
export function inWords(content: Content): string {
  return content.map((part) => (part.type === 'text' ? part.text : nameOf(part))).join('\n')
}

/** Returns a file in words: `[image: cat.png, image/png, 12 KB]`. */
export function nameOf({ type, name = '', mime, size }: MediaPart): string {
  const named = plainName(name)
  return `[${type}: ${named === '' ? '' : `${named}, `}${mime}, ${sizeInWords(size)}]`
}

/** Returns a number of bytes for people: `999 B`, `12 KB`, `3.4 MB`. */
function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
