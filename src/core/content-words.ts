import type { Content, MediaPart } from './content.ts'
import { nameWithin, plainExcerpt } from './label.ts'
import type { AttachmentRef, FileKind } from './message.ts'
import type { OutboundFile, RenderedPart } from './outbound.ts'

/** Returns the content as text alone: each file is named where it stands. For people, and models that see no files. */
export function inWords(content: Content): string {
  return content.map((part) => (part.type === 'text' ? part.text : nameOf(part))).join('\n')
}

/** Returns a file in words: `[image: cat.png, image/png, 12 KB]`. */
export function nameOf({ type, name = '', mime, size }: MediaPart): string {
  const named = nameWithin(name)
  return `[${type}: ${named === '' ? '' : `${named}, `}${mime}, ${sizeInWords(size)}]`
}

const KINDS: Readonly<Record<FileKind, string>> = {
  photo: 'photo',
  document: 'file',
  voice: 'voice note',
  audio: 'audio file',
  video: 'video',
  animation: 'animation',
  sticker: 'sticker',
}

/** A type is what its uploader says it is: whatever else it says is not shown. */
const TYPE = /^(application|audio|font|image|model|text|video)\/[\w.+-]{1,40}$/

/** Returns what a file that came with a message is called: by its name, unless it is a voice note, else by its kind. */
export function fileName({ fileName: name = '', kind, mime = '' }: AttachmentRef): string {
  if (kind === 'voice') return KINDS.voice
  return nameWithin(name) || (kind === undefined ? (TYPE.test(mime) ? mime : 'file') : KINDS[kind])
}

/** Returns such a file in words, with the reason why its content is not shown: `a.zip, 3.4 MB, not shown: …`. */
export function fileWords(file: AttachmentRef): string {
  const { about = '', media, size = media?.size, text, note = '', unread } = file
  const ofPicture = text === undefined ? note : ''
  const words = [fileName(file), plainExcerpt(about, LONGEST_ABOUT), ofPicture].filter((word) => word !== '')
  if (unread === undefined) return words.join(', ')
  return [...words, ...(size === undefined ? [] : [sizeInWords(size)]), `not shown: ${unread}`].join(', ')
}

const LONGEST_ABOUT = 80

/** Returns a file on its way out in words: `[file: table.csv, text/plain, 12 KB]`. */
export function partName({ as, media, mime, size, name }: OutboundFile): string {
  return nameOf({ type: as === 'picture' ? 'image' : 'file', media, mime, size, name })
}

/** Returns what a part says in words: its file is named above its caption, and what is spoken is said. */
export function saidIn({ plain, file }: RenderedPart): string {
  if (file === undefined || file.as === 'voice') return plain
  return plain === '' ? partName(file) : `${partName(file)}\n${plain}`
}

/** Returns a number of bytes for people: `999 B`, `12 KB`, `3.4 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
