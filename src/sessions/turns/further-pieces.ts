import { conversationOf } from '../../core/address.ts'
import type { InboundMessage } from '../../core/message.ts'
import { senderKey } from '../../core/platform-id.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StartedTurn } from './started-turn.ts'

/** By the stamps of the platform, between two pieces of a pasted text. */
const LONGEST_GAP_MS = 2_000

/**
 * Returns those of the waiting messages that are pieces of what began the turn, with its messages so far as `begun`.
 * Pieces are marked by whether others came before them, which a crash forgets: after one, the rest of a pasted text is
 * known by its stamp.
 */
export function furtherPieces(
  { asked, resumed }: Pick<StartedTurn, 'asked' | 'resumed'>,
  waiting: readonly InboxRow[],
  begun: readonly InboxRow[],
): readonly InboxRow[] {
  const of = asked?.piece?.of
  let last = begun.map(messageIn).findLast((event) => event?.piece?.of === of)
  return waiting.filter((row) => {
    const event = messageIn(row)
    if (event === undefined) return false
    const further = event.piece?.of === of || (resumed && last !== undefined && continues(last, event))
    if (further) last = event
    return further
  })
}

function messageIn({ dispatch: { event } }: InboxRow): InboundMessage | undefined {
  return event.kind === 'message' ? event : undefined
}

function continues(before: InboundMessage, event: InboundMessage): boolean {
  const gap = event.sentAt - before.sentAt
  return (
    before.piece?.more === true &&
    before.attachments.length === 0 &&
    event.attachments.length === 0 &&
    placeOf(event) === placeOf(before) &&
    gap >= 0 &&
    gap <= LONGEST_GAP_MS
  )
}

function placeOf({ address, sender }: InboundMessage): string {
  return `${conversationOf(address)} ${senderKey(address.channel, sender)}`
}
