import type { AttachmentRef } from '../../../src/core/message.ts'
import { type Fields, isFields, present } from '../../shared/fields.ts'
import { kindOfType } from '../../shared/file-kind.ts'

/** The files of a message, by their ids. */
export function readAttachments(message: Fields): readonly AttachmentRef[] {
  if (!Array.isArray(message.files)) return []
  return message.files.filter(isFields).flatMap(({ id, mimetype, name, size, subtype }) =>
    typeof id === 'string'
      ? [
          {
            ref: id,
            ...present('kind', subtype === 'slack_audio' ? 'voice' : kindOfType(mimetype)),
            ...(typeof mimetype === 'string' ? { mime: mimetype } : {}),
            ...(typeof name === 'string' ? { fileName: name } : {}),
            ...(typeof size === 'number' ? { size } : {}),
          },
        ]
      : [],
  )
}
