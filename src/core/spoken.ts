import type { UserMessageData } from './event.ts'
import { escapeLabels } from './label.ts'
import type { AttachmentRef, ReadFile } from './message.ts'

/** A recording that was passed on, or kept as a file, may be of anybody; that of a quoted message is its writer's. */
export function isOwnVoice(
  { kind, quoted }: Pick<AttachmentRef, 'kind' | 'quoted'>,
  { forwarded, via, from }: Pick<UserMessageData, 'forwarded' | 'via' | 'from'>,
): boolean {
  return kind === 'voice' && quoted === undefined && forwarded === undefined && via === undefined && from === undefined
}

/** The words of recordings, by the reference of each. */
export class Spoken {
  readonly #byRef = new Map<string, string>()

  add(files: readonly ReadFile[]): void {
    for (const { ref, spoken } of files) if (spoken !== undefined) this.#byRef.set(ref, spoken)
  }

  clear(): void {
    this.#byRef.clear()
  }

  /** Returns the message with the words that its sender has said in voice notes. */
  in<Message extends UserMessageData>(message: Message): Message {
    const { attachments } = message
    const saidIn = (file: AttachmentRef) => (isOwnVoice(file, message) ? this.#byRef.get(file.ref) : undefined)
    if (attachments === undefined || !attachments.some((file) => saidIn(file) !== undefined)) return message
    const heard = attachments.map((file) => {
      const spoken = saidIn(file)
      return spoken === undefined ? file : { ...file, spoken }
    })
    return { ...message, attachments: heard }
  }
}

/** Returns the words that a sender has said in voice notes, each behind a label that says how they came. */
export function spokenWords({ attachments = [] }: Pick<UserMessageData, 'attachments'>): string {
  return attachments
    .flatMap(({ spoken }) => (spoken === undefined ? [] : `[voice note] ${escapeLabels(spoken)}`))
    .join('\n')
}
