import { isDeepStrictEqual } from 'node:util'
import type { AttachmentRef, InboundEvent } from './message.ts'

/** Returns true where two messages say the same, beside what they quote; each bot has names of its own for files. */
export function hasSameContent(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && isDeepStrictEqual(contentOf(one), contentOf(other))
}

function contentOf({ text, enclosed, forwarded, via, attachments }: Extract<InboundEvent, { text: string }>) {
  const files = attachments.filter(({ quoted }) => !quoted).map(fileOf)
  return {
    text,
    enclosed,
    forwarded: forwarded && { text: forwarded.text, from: forwarded.from?.id },
    via: via?.id,
    files,
  }
}

function fileOf({ kind, mime, fileName, size, about }: AttachmentRef) {
  return { kind, mime, fileName, size, about }
}
