import type { AttachmentRef } from '../../../src/core/message.ts'
import { countOf, type Fields, fieldsOf, listOf, optionalText, present, textOf } from '../../shared/fields.ts'

/** An animation also comes as `document`, for old clients; the first of the two is taken. */
const SINGLE_FILES = ['animation', 'document', 'video', 'audio', 'voice', 'video_note', 'sticker'] as const

/** The files of a message, by `file_id`: the only reference the platform gives that is not a path. */
export function readAttachments(message: Fields): readonly AttachmentRef[] {
  const photo = largest(listOf(message.photo).map(fieldsOf))
  if (photo !== undefined) return [{ ...readFile(photo), mime: 'image/jpeg' }]
  for (const name of SINGLE_FILES) {
    const file = message[name]
    if (file !== undefined) return [readFile(fieldsOf(file))]
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
  return countOf(size.width) * countOf(size.height)
}

function readFile(file: Fields): AttachmentRef {
  const size = file.file_size
  return {
    ref: textOf(file.file_id),
    ...present('mime', optionalText(file.mime_type)),
    ...present('fileName', optionalText(file.file_name)),
    ...present('size', size === undefined ? undefined : countOf(size)),
  }
}
