import type { Forwarded, InboundText } from '../../src/core/message.ts'

/**
 * Returns the text of a message that passes on what somebody else wrote, and the mark that says which words are theirs:
 * the whole text, or those beside the sender's own.
 */
export function sharedWords(own: string, theirs: string, by: Forwarded = {}): Pick<InboundText, 'text' | 'forwarded'> {
  return own.trim() === '' ? { text: theirs, forwarded: by } : { text: own, forwarded: { ...by, text: theirs } }
}
