import type { AttachmentRef, InboundEvent } from './message.ts'

/** A stranger's message keeps no more of a poll or the like, which is compared that far. */
const LONGEST_REST = 500

/** Returns true where two messages say the same, beside what they quote; each bot has names of its own for files. */
export function hasSameContent(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && contentOf(one) === contentOf(other)
}

function contentOf({ text, enclosed, forwarded, via, attachments }: Extract<InboundEvent, { text: string }>): string {
  const files = attachments.filter(({ quoted }) => !quoted).map(fileOf)
  const passedOn = forwarded && [forwarded.from?.id, forwarded.name, forwarded.text]
  const rest = enclosed?.[0]?.slice(0, LONGEST_REST)
  return JSON.stringify({ text, rest, passedOn, via: via?.id, files })
}

function fileOf({ kind, mime, fileName, size, about }: AttachmentRef) {
  return { kind, mime, fileName, size, about }
}

/** Returns true for a message of which nothing is kept but who said it, when and where, such as a stranger's. */
export function isWordless(said: InboundEvent): boolean {
  if (!('text' in said)) return false
  const { text, attachments, enclosed, forwarded } = said
  return text === '' && attachments.length === 0 && enclosed === undefined && !forwarded?.text
}
