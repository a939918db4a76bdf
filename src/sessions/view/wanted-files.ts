import type { AttachmentRef } from '../../core/message.ts'
import { sourceOf } from './history-view.ts'
import { isUnread, type ReceivedMessage } from './received.ts'
import type { RunningTurn } from './running-turn-view.ts'

/** A file of the running turn that no turn has read. */
export interface UnreadFile {
  readonly file: AttachmentRef
  readonly message: ReceivedMessage
}

/**
 * Returns the files of the running turn that were not read yet, each once: first those of messages that ask something,
 * then those that were said besides, the newest first. Pure.
 */
export function unreadFiles(running: RunningTurn): readonly UnreadFile[] {
  const joined = running.steps.flatMap((step) => sourceOf(step)?.received ?? [])
  const received = [...running.received, ...joined].filter(({ attachments, deleted }) => attachments && !deleted)
  if (received.length === 0) return []
  const asking = received.filter(({ triggers }) => triggers)
  const besides = received.filter(({ triggers }) => !triggers).reverse()
  const files = [...asking, ...besides].flatMap((message) =>
    (message.attachments ?? []).filter(isUnread).map((file): [string, UnreadFile] => [file.ref, { file, message }]),
  )
  return [...new Map(files.reverse()).values()].reverse()
}
