import type { ModelMessage } from '../core/model.ts'
import type { EarlierMessages } from '../core/turn.ts'
import { charactersOf, pruneAll } from './prune-results.ts'

/** The earlier turns that stay in a request that was too long, in messages. */
const EARLIER_KEPT = 8

/** Characters of a request that no model is known to find too long. */
const SHORT = 16_000

/**
 * Returns true if most of a long request was left out. Where the server refuses one without words that anybody knows,
 * its length may be the reason.
 */
export function isMostlyLeftOut(whole: readonly ModelMessage[], shortened: readonly ModelMessage[]): boolean {
  const [before, after] = [whole, shortened].map((messages) =>
    messages.reduce((sum, message) => sum + charactersOf(message), 0),
  )
  return before !== undefined && after !== undefined && before > SHORT && after < before / 2
}

/**
 * Returns the messages of a request that the model found too long with everything left out that a turn can do without:
 * results of its earlier steps, and all but the summary and the newest four of the earlier turns (R29). Returns
 * undefined where nothing can be left out.
 */
export function shortenRequest(
  messages: readonly ModelMessage[],
  { messages: earlier, summary }: Pick<EarlierMessages, 'messages' | 'summary'>,
): readonly ModelMessage[] | undefined {
  const begin = summary ? 2 : 0
  const left = earlier > begin + EARLIER_KEPT ? earlier - begin - EARLIER_KEPT : 0
  const fewer = left === 0 ? messages : [...messages.slice(0, begin), ...messages.slice(begin + left)]
  const pruned = pruneAll(fewer)
  return left === 0 && pruned.every((message, index) => message === messages[index]) ? undefined : pruned
}
