import type { Forwarded, InboundText, Mention } from '../../src/core/message.ts'

/** The most mentions of a message that are kept: the model is shown a name of each. */
const MOST_MENTIONS = 20

/** Returns `{ mentions }` with each once, bounded; nothing where there are none. */
export function presentMentions(named: readonly Mention[]): Pick<InboundText, 'mentions'> {
  const once = new Map(named.map((one) => [JSON.stringify([one.kind, one.name, one.username]), one]))
  return once.size === 0 ? {} : { mentions: [...once.values()].slice(0, MOST_MENTIONS) }
}

/**
 * Returns the text of a message that passes on what somebody else wrote, and the mark that says which words are theirs:
 * the whole text, or those beside the sender's own.
 */
export function sharedWords(own: string, theirs: string, by: Forwarded = {}): Pick<InboundText, 'text' | 'forwarded'> {
  return own.trim() === '' ? { text: theirs, forwarded: by } : { text: own, forwarded: { ...by, text: theirs } }
}
