import { formatAddress } from '../../core/address.ts'
import { saidIn } from '../../core/content-words.ts'
import { cutText } from '../../core/cut-text.ts'
import type { EventDraft, UndeliveredData } from '../../core/event.ts'
import { isInboxId, madeAt, type NoticeId, turnOf } from '../../core/ids.ts'
import { plainExcerpt } from '../../core/label.ts'
import type { Delivery, OutboundMessage } from '../../core/outbound.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'

/** The most UTF-16 units of the text that are quoted. */
const BEGINNING = 120
const LONGEST_REASON = 300

/**
 * Records in a session that something it said did not reach its chat, so that its agent does not continue as if it had.
 * The daemon's own texts, such as a command's answer, are not the agent's words and need no record.
 */
export async function recordUndelivered(
  tx: StoreWriter,
  row: Delivery,
  ending: Pick<UndeliveredData, 'state' | 'reason'>,
  at: number,
): Promise<void> {
  await recordFate(tx, row, at, (said) => ({ type: 'delivery_failed', data: { ...said, ...ending } }))
}

/** Records that it is sent once more; if that does not arrive either, its end is recorded anew. */
export async function recordRetried(tx: StoreWriter, row: Delivery, at: number): Promise<void> {
  await recordFate(tx, row, at, (data) => ({ type: 'delivery_retried', data }))
}

async function recordFate(
  tx: StoreWriter,
  { id, sessionId, source, address, part, class: kind }: Delivery,
  at: number,
  eventOf: (said: Pick<UndeliveredData, 'to' | 'text'>) => EventDraft,
): Promise<void> {
  if (sessionId === undefined || (kind !== 'reply' && kind !== 'effect')) return
  const session = await tx.sessions.get(sessionId)
  // A session that has the id since did not say it.
  if (session === undefined || session.createdAt > (madeAt(id) ?? at)) return
  const plain = saidIn(part).replace(/\s+/g, ' ').trim()
  const text = plain.length > BEGINNING ? `${cutText(plain, BEGINNING)}…` : plain
  const event = eventOf({ to: formatAddress(address), text })
  // A file and its caption are of the turn as its answer is.
  const turnId = turnOf(source)
  await tx.events.append(sessionId, at, [{ ...event, ...(turnId === undefined ? {} : { turnId }) }])
}

/**
 * Returns the line for the person who waits for an answer in a topic or thread that takes nothing any more: it stands
 * where they alone read it, and has no word of the answer. Undefined where nobody waits there, as for a schedule.
 */
export async function strandedNotice(
  { inbox }: Pick<StoreReader, 'inbox'>,
  { source, traceId, address: { topic: _topic, ...chat }, class: kind }: Delivery,
  { id, title }: { readonly id: NoticeId; readonly title: string },
): Promise<OutboundMessage | undefined> {
  if (kind === 'effect') return undefined
  const turn = turnOf(source)
  const asked = turn === undefined ? [isInboxId(source) && (await inbox.get(source))] : await inbox.ofTurn(turn)
  const last = asked.findLast((row) => row && row.dispatch.origin === 'platform')
  const waiting = last ? last.dispatch.event.sender : undefined
  if (waiting?.kind !== 'user') return undefined
  const text = `I cannot write in ${title} any more: that topic or thread is closed or gone. So my answer to you is not there.`
  return { source: id, traceId, address: chat, class: 'notice', text, only: { id: waiting.id, otherwise: 'direct' } }
}

/** Returns the note that the model reads before the next message. Nobody's words in it can close the note. */
export function undeliveredNote({ to, state, reason, text }: UndeliveredData): string {
  const fate = state === 'given_up' ? 'may not have arrived' : 'did not arrive'
  return `[system note: your message to ${to} ${fate}; it began with ${JSON.stringify(plainExcerpt(text, 2 * BEGINNING))}; reason: ${plainExcerpt(reason, LONGEST_REASON)}]`
}

/** Returns the note that takes back the one before. */
export function retriedNote({ to, text }: Pick<UndeliveredData, 'to' | 'text'>): string {
  return `[system note: your message to ${to} that had not arrived was sent once more; it began with ${JSON.stringify(plainExcerpt(text, 2 * BEGINNING))}]`
}
