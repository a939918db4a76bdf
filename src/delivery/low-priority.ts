import type { SourceId } from '../core/ids.ts'
import type { LowPriority } from '../core/outbound.ts'

/**
 * The rank of a part in the queue of its conversation and for a slot of chat, group and account: 0 has no low priority,
 * 1 is what somebody known asked for and can wait, 2 is what people caused whom nobody let in by name. Parts of one
 * rank keep the order of planning.
 */
export type Rank = 0 | 1 | 2

/** A part that waits in the queue of a conversation, as far as its priority goes. */
export interface Queued {
  readonly source: SourceId
  /** The low priority of its row; absent if it is sent in its turn. */
  readonly lowPriority?: LowPriority
  /**
   * True once a part of its message has left or was tried: nothing replaces it any more, though others still go ahead
   * of it.
   */
  begun?: boolean | undefined
}

export function rankOf(priority: LowPriority | undefined): Rank {
  if (priority === undefined) return 0
  return priority.known ? 1 : 2
}

/** Returns true if `one` goes before `other`, whichever came first. */
export function goesAhead(one: Queued, other: Queued): boolean {
  return rankOf(one.lowPriority) < rankOf(other.lowPriority)
}

/** Returns the slots of a chat or a group that a rank leaves to those ahead of it. */
export function leftInChat(rank: Rank): number {
  return rank
}

/** Returns how many of the slots an account has at once a rank leaves to those ahead of it. */
export function leftInAccount(rank: Rank, burst: number): number {
  return Math.floor((burst * rank) / 4)
}

/** Puts a part behind all of its rank and ahead of all that it precedes; the first `fixed` parts keep their places. */
export function insert<Item extends Queued>(queue: Item[], item: Item, fixed: 0 | 1): void {
  let at = queue.length
  for (let before = queue[at - 1]; at > fixed && before && goesAhead(item, before); before = queue[at - 1]) at--
  queue.splice(at, 0, item)
}

/** Moves the parts ahead that came while the first one was under way; that one stays the first of its rank. */
export function letAhead<Item extends Queued>(queue: Item[]): void {
  const [first, second] = queue
  if (!first || !second || !goesAhead(second, first)) return
  queue.shift()
  const behind = queue.findIndex((item) => !goesAhead(item, first))
  queue.splice(behind === -1 ? queue.length : behind, 0, first)
}

/** The most answers to one person that may wait in a conversation, and the most of one rank to all people there. */
const MOST_FOR_PERSON = 3
const MOST_IN_CHAT = 10

/**
 * Removes from the queue what is not sent any more now that another answer of this priority waits in it: whole messages
 * of the same rank, the oldest first, which newer answers to the same person, or to anybody there, replace. The message
 * under way stays.
 */
export function takeSuperseded<Item extends Queued>(
  queue: Item[],
  newest: LowPriority,
  underWay: SourceId | undefined,
): readonly Item[] {
  const { supersedes } = newest
  if (supersedes === undefined || queue.length === 1) return []
  const stays = new Set([underWay, ...queue.filter(({ begun }) => begun).map(({ source }) => source)])
  const answers = queue.filter(
    ({ source, lowPriority }) =>
      !stays.has(source) && lowPriority?.supersedes !== undefined && rankOf(lowPriority) === rankOf(newest),
  )
  const mine = answers.filter(({ lowPriority }) => lowPriority?.supersedes === supersedes)
  const gone = new Set([...beyond(mine, MOST_FOR_PERSON), ...beyond(answers, MOST_IN_CHAT)])
  if (gone.size === 0) return []
  const taken = queue.filter(({ source }) => gone.has(source))
  const left = queue.filter(({ source }) => !gone.has(source))
  queue.splice(0, queue.length, ...left)
  return taken
}

/** Returns the messages before the newest `most`. */
function beyond(waiting: readonly Queued[], most: number): readonly SourceId[] {
  const sources = [...new Set(waiting.map(({ source }) => source))]
  return sources.slice(0, Math.max(0, sources.length - most))
}

/**
 * The most parts of low priority that may wait for one account, or in one chat: some seconds of what an account may
 * send.
 */
const MOST_WAITING = 100
/**
 * The most parts of one chat that count for its account: what the chat accepts in those seconds. The others wait for
 * the chat.
 */
const MOST_COUNTED = 4

/** The number of parts of low priority that wait in one conversation. */
export interface LowWaiting {
  readonly chat: string
  readonly low: number
}

/**
 * Returns true if so many parts of low priority wait in the conversations of one account that none should be added in
 * this chat.
 */
export function isCrowded(conversations: readonly LowWaiting[], here: string): boolean {
  if (conversations.length === 0) return false
  const chats = new Map<string, number>()
  let counted = 0
  for (const { chat, low } of conversations) {
    const before = chats.get(chat) ?? 0
    chats.set(chat, before + low)
    counted += Math.min(before + low, MOST_COUNTED) - Math.min(before, MOST_COUNTED)
    if (counted >= MOST_WAITING) return true
  }
  return (chats.get(here) ?? 0) >= MOST_WAITING
}
