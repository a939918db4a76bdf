import type { TextFormat } from '../channels/adapter.ts'
import type { ChannelId, SourceId } from '../core/ids.ts'
import type { Delivery, RenderedPart } from '../core/outbound.ts'
import type { StoreWriter } from '../store/store.ts'
import { entryOf } from './conversation.ts'
import { withLine } from './cut-answer.ts'
import type { RowDeps } from './new-row.ts'
import { isShown, type PlannedReply } from './plan-rows.ts'

export interface CloseDeps extends Pick<RowDeps, 'clock' | 'settings'> {
  format(channel: ChannelId): TextFormat
}

/** A message with buttons, and the line that takes their place. */
export interface ClosedCard {
  readonly source: SourceId
  readonly line: string
}

/**
 * Takes the buttons off a message and puts a line in their place, by an edit if it was sent. Returns `later` while it
 * is being sent; undefined if nothing is to be done, since it never was sent or is gone.
 */
export async function closeCard(
  { clock, settings, format }: CloseDeps,
  tx: StoreWriter,
  { source, line }: ClosedCard,
): Promise<PlannedReply | 'later' | undefined> {
  const rows = await tx.outbox.ofSource(source)
  const row = rows.findLast(({ part }) => part.buttons !== undefined)
  if (row === undefined) return deleteForgotten({ clock, settings }, tx, rows)
  // It is deleted with its exchange.
  if (row.op === 'delete') return undefined
  const { id, address, lowPriority, state } = row
  if (state === 'sending' || state === 'uncertain') return 'later'
  const part = closedPart(format(address.channel), row.part, line)
  const at = clock.now()
  const expiresAt = at + settings.expireAfterMs[row.class]
  // A row that waits in its queue is read when it is next.
  if (state === 'planned' || state === 'waiting') {
    if (row.op === 'send') await tx.outbox.replace(id, { op: 'send', part, state: 'planned', lowPriority, at })
    return undefined
  }
  if (!isShown(row)) return undefined
  await tx.outbox.replace(id, { op: 'edit', part, state: 'planned', lowPriority, at, expiresAt })
  return { outcome: 'planned', address, entries: [entryOf(row)] }
}

/** Deletes a card of which the store has no words any more, since they are forgotten: the chat still shows them. */
async function deleteForgotten(
  { clock, settings }: Pick<CloseDeps, 'clock' | 'settings'>,
  tx: StoreWriter,
  rows: readonly Delivery[],
): Promise<PlannedReply | undefined> {
  const shown = rows.filter((row) => row.op !== 'delete' && isShown(row) && row.part.text === '' && !row.part.file)
  const [first] = shown
  if (first === undefined) return undefined
  const at = clock.now()
  const expiresAt = at + settings.expireAfterMs[first.class]
  for (const { id, part, lowPriority } of shown)
    await tx.outbox.replace(id, { op: 'delete', part, state: 'planned', lowPriority, at, expiresAt })
  return { outcome: 'planned', address: first.address, entries: shown.map((row) => entryOf(row)) }
}

function closedPart(format: TextFormat, { buttons: _, ...part }: RenderedPart, line: string): RenderedPart {
  const [below] = format.split(line)
  // A message without room for the line at least asks no more.
  return (below && withLine(part, below, format.limit)) ?? part
}
