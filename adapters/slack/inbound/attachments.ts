import type { AttachmentRef, FileKind } from '../../../src/core/message.ts'
import { type Fields, isFields, present, sizeOf } from '../../shared/fields.ts'
import { kindOfType } from '../../shared/file-kind.ts'

/** The files of a message, or of one that it shares, by their ids. */
export function readAttachments(message: Fields): readonly AttachmentRef[] {
  if (!Array.isArray(message.files)) return []
  return message.files.filter(isFields).flatMap((file) => {
    const { id, mimetype, name, size, subtype } = file
    return typeof id === 'string'
      ? [
          {
            ref: id,
            ...present('kind', subtype === 'slack_audio' ? clipKind(file, message) : kindOfType(mimetype)),
            ...(typeof mimetype === 'string' ? { mime: mimetype } : {}),
            ...(typeof name === 'string' ? { fileName: name } : {}),
            ...present('size', sizeOf(size)),
          },
        ]
      : []
  })
}

/** Returns a file of a message that is shared: it is no more its sender's than the words of that message. */
export function asShared(file: AttachmentRef): AttachmentRef {
  return { ...file, shared: true }
}

/** A clip can be shared again by anybody who sees it: it is a voice note only of whoever has recorded it. */
function clipKind({ user, user_team: fileTeam }: Fields, message: Fields): FileKind {
  const team = message.user_team ?? message.source_team ?? message.team
  const isOwn = typeof user === 'string' && user === message.user && (fileTeam === undefined || fileTeam === team)
  return isOwn ? 'voice' : 'audio'
}
