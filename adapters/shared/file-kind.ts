import type { AttachmentRef, FileKind } from '../../src/core/message.ts'

/** Returns the kind of a file by the type that the platform names, where that is a recording or a video. */
export function kindOfType(type: unknown): FileKind | undefined {
  if (typeof type !== 'string') return undefined
  // Tables of types by the ending of a name take programs in TypeScript for videos, and lists of songs for songs.
  if (type === 'video/mp2t' || /mpegurl$/i.test(type)) return undefined
  if (type.startsWith('audio/')) return 'audio'
  return type.startsWith('video/') ? 'video' : undefined
}

/** Returns the files of a message that this one answers: people ask about a picture by a reply to it. */
export function asQuoted(files: readonly AttachmentRef[]): readonly AttachmentRef[] {
  return files.map((file) => ({
    ...file,
    quoted: true,
    about: [file.about, 'of the message replied to'].filter(Boolean).join(', '),
  }))
}
