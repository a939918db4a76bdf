import type { UserMessageData } from './event.ts'

/** Returns the texts of a message, in whatever way they came. */
export function wordsIn({ text, raw, forwarded, enclosed, attachments, data }: UserMessageData): readonly string[] {
  const files = (attachments ?? []).flatMap((file) => [file.text, file.spoken, file.fileName, file.about])
  return [text, raw, forwarded?.text, data, ...(enclosed ?? []), ...files].filter((one) => one !== undefined)
}
