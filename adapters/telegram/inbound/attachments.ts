import type { AttachmentRef, FileKind } from '../../../src/core/message.ts'
import { type Fields, fieldsOf, listOf, optionalText, present, sizeOf, textOf } from '../../shared/fields.ts'

/** An animation also comes as `document`, for old clients; the first of the two is taken. */
const SINGLE_FILES = {
  animation: 'animation',
  document: 'document',
  video: 'video',
  audio: 'audio',
  voice: 'voice',
  video_note: 'video',
  sticker: 'sticker',
} as const satisfies Record<string, FileKind>

/** The files of a message, by `file_id`: the only reference the platform gives that is not a path. */
export function readAttachments(message: Fields): readonly AttachmentRef[] {
  const photo = largest(listOf(message.photo).map(fieldsOf))
  if (photo !== undefined) return [{ ...readFile(photo, 'photo'), mime: 'image/jpeg' }]
  for (const [name, kind] of Object.entries(SINGLE_FILES)) {
    const file = message[name]
    if (file !== undefined) return [readFile(fieldsOf(file), kind)]
  }
  return []
}

/** Photos come in several sizes of the same picture. */
function largest(sizes: readonly Fields[]): Fields | undefined {
  return sizes.reduce<Fields | undefined>((best, size) => {
    return best === undefined || pixels(size) > pixels(best) ? size : best
  }, undefined)
}

function pixels(size: Fields): number {
  return (sizeOf(size.width) ?? 0) * (sizeOf(size.height) ?? 0)
}

function readFile(file: Fields, kind: FileKind): AttachmentRef {
  return {
    ref: textOf(file.file_id),
    kind,
    ...present('mime', optionalText(file.mime_type)),
    ...present('fileName', optionalText(file.file_name)),
    ...present('size', sizeOf(file.file_size)),
    ...present('about', aboutOf(file)),
  }
}

/** Returns the rest that the platform says of a file: the emoji of a sticker, artist and title, the length. */
function aboutOf({ emoji, title, performer, duration }: Fields): string | undefined {
  const seconds = typeof duration === 'number' && duration >= 0 ? `${Math.round(duration)} s` : undefined
  const words = [emoji, performer, title, seconds].filter((word) => typeof word === 'string' && word !== '')
  return words.length === 0 ? undefined : words.join(', ')
}
