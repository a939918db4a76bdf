import type { SourceId } from '../core/ids.ts'
import type { LowPriority } from '../core/outbound.ts'

/**
 * Who goes ahead of whom, in the queue of a conversation and for a slot of chat, group and account: 0 everything that has
 * no low priority, 1 what somebody known asked for and can wait, 2 what people caused whom nobody let in by name. Within
 * a rank the order is that of planning.
 */
export type Rank = 0 | 1 | 2

/** A part that waits in the queue of a conversation, as far as its priority goes. */
export interface Queued {
  readonly source: SourceId
  /** As its row has it; absent: it is sent in its turn. */
  readonly lowPriority?: LowPriority
  /** A part of its message has left or was tried, so nothing takes its place any more; others go ahead of it all the same. */
  begun?: boolean | undefined
}

export function rankOf(priority: LowPriority | undefined): Rank {
  if (priority === undefined) return 0
  return priority.known ? 1 : 2
}

/** True if `one` goes before `other`, whichever came first. */
export function goesAhead(one: Queued, other: Queued): boolean {
  return rankOf(one.lowPriority) < rankOf(other.lowPriority)
}

/** The slots of a chat or a group that a rank leaves to those ahead of it. */
export function leftInChat(rank: Rank): number {
  return rank
}

/** Of the slots an account has at once, those that a rank leaves to those ahead of it. */
export function leftInAccount(rank: Rank, burst: number): number {
  return Math.floor((burst * rank) / 4)
}

/** Puts a part behind all of its rank, and ahead of all that it goes before; the first `fixed` parts keep their places. */
export function insert<Item extends Queued>(queue: Item[], item: Item, fixed: 0 | 1): void {
  let at = queue.length
  for (let before = queue[at - 1]; at > fixed && before && goesAhead(item, before); before = queue[at - 1]) at--
  queue.splice(at, 0, item)
}

/** Lets those go ahead of the first part that came while it was under way; it stays the first of its rank. */
export function letAhead<Item extends Queued>(queue: Item[]): void {
  const [first, second] = queue
  if (!first || !second || !goesAhead(second, first)) return
  queue.shift()
  const behind = queue.findIndex((item) => !goesAhead(item, first))
  queue.splice(behind === -1 ? queue.length : behind, 0, first)
}

/** Answers to one person that may wait in a conversation, and answers of one rank to all of them together. */
const MOST_FOR_PERSON = 3
const MOST_IN_CHAT = 10

/**
 * Takes out of the queue what is not sent any more now that another answer of this priority waits in it: whole messages
 * of the same rank, the oldest first, since newer answers to the same person, or to anybody there, took their place. The
 * message under way stays.
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

/** The messages before the newest `most`. */
function beyond(waiting: readonly Queued[], most: number): readonly SourceId[] {
  const sources = [...new Set(waiting.map(({ source }) => source))]
  return sources.slice(0, Math.max(0, sources.length - most))
}

/** Parts of low priority that may wait for one account, or in one chat: some seconds of what an account may send. */
const MOST_WAITING = 100
/** As many of one chat count for its account: what it takes in those seconds. What else waits there waits for the chat. */
const MOST_COUNTED = 4

/** How many parts of low priority wait in one conversation. */
export interface LowWaiting {
  readonly chat: string
  readonly low: number
}

/**
 * Counts the parts of low priority that wait in the conversations of one account, and returns whether they are so many
 * that none should be added in this chat.
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
