import type { ChannelSink } from '../../src/channels/adapter.ts'
import type { InboundEvent } from '../../src/core/message.ts'

/** A message of a page, as the platform gave it. */
export interface PageMessage<M> {
  readonly id: string
  readonly message: M
}

/** The messages after another, oldest first. */
export interface MessagePage<M> {
  readonly messages: readonly PageMessage<M>[]
  /**
   * `none`: there is no more. `more`: ask again from the last message. `cut`: there is more that cannot be asked for.
   */
  readonly further: 'none' | 'more' | 'cut'
}

export interface PageReader<M> {
  /**
   * Reads what came after a message. Returns `refused` where the conversation may not be read. Rejects when the
   * platform did not answer, with `TryLater` when it asks to wait; the caller does the whole again.
   */
  read(after: string, limit: number): Promise<MessagePage<M> | 'refused'>
}

/** Limits the reading back in one conversation, and in all of them together after one interruption. */
export interface Bound {
  readonly most: number
  readonly budget: Budget
}

export interface Budget {
  left: number
}

/** The missed messages, oldest first. `left`: why there may be more. */
export interface Missed<M> {
  readonly messages: readonly PageMessage<M>[]
  readonly left?: 'bounded' | 'refused'
}

/** Reads what came after a message, page by page in order, until there is no more or the bound is reached. */
export async function readBack<M>(reader: PageReader<M>, after: string, { most, budget }: Bound): Promise<Missed<M>> {
  const messages: PageMessage<M>[] = []
  let from = after
  while (messages.length < most && budget.left > 0) {
    const page = await reader.read(from, Math.min(most - messages.length, budget.left))
    if (page === 'refused') return { messages, left: 'refused' }
    messages.push(...page.messages)
    budget.left -= page.messages.length
    const last = page.messages.at(-1)
    if (page.further === 'cut') return { messages, left: 'bounded' }
    if (page.further === 'none' || last === undefined) return { messages }
    from = last.id
  }
  return { messages, left: 'bounded' }
}

/**
 * Returns the ids of what was answered already, as far as the platform shows it: `answersOf` names the message that one
 * of ours answers. The store knows what it has answered; only a state that was put back whole does not (decision 0013).
 */
export function answeredAmong<M>(
  messages: readonly PageMessage<M>[],
  answersOf: (message: M) => string | undefined,
): ReadonlySet<string | undefined> {
  return new Set(messages.map(({ message }) => answersOf(message)))
}

/** Returns the event as one that was answered; what has no text owes no answer. */
export function asAnswered(event: InboundEvent): InboundEvent {
  return 'text' in event ? { ...event, answered: true } : event
}

/** Counts what was left, and notifies the owners of what was said and is not read: it would be answered by nobody. */
export function reportUnread(
  sink: Pick<ChannelSink, 'unknown' | 'notifyOwners'>,
  {
    left,
    platform,
    most,
  }: { readonly left: Missed<unknown>['left']; readonly platform: string; readonly most: number },
): void {
  if (left === undefined) return
  sink.unknown(`back_fill:${left}`)
  if (left === 'refused') return
  const text =
    `More was said on ${platform} while it could not be heard than is read back (${most} messages a conversation): ` +
    'some messages of that time are not answered. Ask there whether something is open.'
  sink.notifyOwners({ about: 'read_back', text })
}
