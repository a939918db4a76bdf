import { cutText } from '../../src/core/cut-text.ts'
import { type Forwarded, type InboundText, LONGEST_ENCLOSED, type Mention } from '../../src/core/message.ts'

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

/** The longest line about something that came with a message, behind a word that may come before it. */
export const LONGEST_LINE = LONGEST_ENCLOSED - 50
const MOST_LINES = 12

/**
 * Returns a list, such as the answers of a poll, behind the beginning of its first line, in as many lines as it needs:
 * the others begin with its kind. Items for which there is no line are counted.
 */
export function listLines(kind: string, beginning: string, items: readonly string[], between = ' / '): string[] {
  const lines = [`${beginning}${items[0] ?? ''}`]
  for (const [at, item] of items.slice(1).entries()) {
    const last = lines.at(-1) ?? ''
    const next = `${last}${between}${item}`
    if (next.length <= LONGEST_LINE) lines[lines.length - 1] = next
    else if (lines.length < MOST_LINES) lines.push(`${kind} (more): ${item}`)
    else {
      lines[lines.length - 1] = `${last}${between}and ${items.length - at - 1} more`
      break
    }
  }
  return lines
}

/** Returns the first characters of a text, and in words how many are left out. */
export function cutWords(text: string, longest: number): string {
  if (text.length <= longest) return text
  const shown = cutText(text, longest)
  return `${shown}… (${text.length - shown.length} more characters, not shown)`
}
