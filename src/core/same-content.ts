import type { AttachmentRef, InboundEvent } from './message.ts'

/** Returns true where two messages say the same, beside what they quote; each bot has names of its own for files. */
export function hasSameContent(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && contentOf(one) === contentOf(other)
}

function contentOf({ text, enclosed, forwarded, via, attachments }: Extract<InboundEvent, { text: string }>): string {
  const files = attachments.filter(({ quoted }) => !quoted).map(fileOf)
  const passedOn = forwarded && [forwarded.from?.id, forwarded.name, forwarded.text]
  return JSON.stringify({ text, enclosed, passedOn, via: via?.id, files })
}

function fileOf({ kind, mime, fileName, size, about }: AttachmentRef) {
  return { kind, mime, fileName, size, about }
}
