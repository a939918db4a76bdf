import type { ModelMessage } from '../core/model.ts'
import type { EarlierMessages } from '../core/turn.ts'
import { pruneAll } from './prune-results.ts'

/** The earlier turns that stay in a request that was too long, in messages. */
const EARLIER_KEPT = 8

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
