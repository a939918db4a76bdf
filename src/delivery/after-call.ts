import { backOffMs } from '../core/backoff.ts'
import { askedWait } from '../core/clock.ts'
import type { Delivery, DeliveryReceipt } from '../core/outbound.ts'
import type { Change, Facts, Item, Loss, Recording, Sending, Uncertain } from './item.ts'
import { isRepeat } from './repeat-mark.ts'

/** The facts by which a receipt is judged. */
type Judging = Pick<Facts, 'elapsed' | 'settings' | 'random' | 'moved'>

/**
 * Returns the item that follows from a receipt. Pure; all that the receipt says is recorded before anything else is
 * done.
 */
export function afterCall(item: Sending, receipt: DeliveryReceipt, facts: Judging): Recording {
  switch (receipt.kind) {
    case 'sent': {
      const resent = item.row.op === 'send' && isRepeat(item.row.part, facts.settings.repeatMark)
      const { messageId, address } = receipt
      const sent = recording(item.row, { kind: 'settle', state: resent ? 'resent' : 'sent', messageId }, ENDED)
      return address === undefined ? sent : { ...sent, sentTo: address }
    }
    case 'unknown':
      return lost(item, receipt.reason, facts)
    case 'not_sent':
      // The outcome of a second call does not undo the first one.
      if (item.as === 'again') return lost(item, receipt.reason, facts)
      return waits(item, receipt.reason, backOffMs(item.row.attempt, SEND_PACE, facts.random), facts)
    case 'rejected':
      return afterRefusal(item, receipt, facts)
  }
}

function afterRefusal(
  item: Sending,
  { reason, retryAfterMs, movedTo, of }: Extract<DeliveryReceipt, { kind: 'rejected' }>,
  facts: Judging,
): Recording {
  const { row } = item
  if (retryAfterMs !== undefined) {
    const pauseMs = askedWait(retryAfterMs)
    const waiting = item.as === 'again' ? lost(item, reason, facts) : waits(item, reason, pauseMs, facts)
    return { ...waiting, pauseMs }
  }
  if (movedTo && !facts.moved) {
    const change = { kind: 'settle', state: 'waiting', reason } as const
    return { ...recording(row, change, { kind: 'queued', id: row.id }), movedTo }
  }
  if (of === 'file' && row.part.file)
    return recording(row, { kind: 'send_text', reason }, { kind: 'queued', id: row.id })
  if (isOutOfReach(row)) return recording(row, { kind: 'say_where_asked', reason }, { kind: 'queued', id: row.id })
  if (row.op === 'edit') return recording(row, { kind: 'send_anew' }, { kind: 'queued', id: row.id })
  const refused = recording(row, { kind: 'settle', state: 'rejected', reason }, ENDED)
  return of === 'topic' ? { ...refused, stranded: true } : refused
}

/**
 * Returns true for an answer to a typed command whose direct chat takes nothing: on Telegram its sender has to write to
 * the bot there first. One with a handle was pressed, or typed unseen, and is nobody else's business.
 */
function isOutOfReach({ op, class: kind, partNo, only, address }: Delivery): boolean {
  const asked = kind === 'control' && op === 'send' && partNo === 0 && address.chatType !== 'direct'
  return asked && only?.otherwise === 'direct' && only.handle === undefined
}

/** Returns the item as one whose outcome is unknown. */
function lost(item: Sending, reason: string, { elapsed }: Pick<Facts, 'elapsed'>): Recording {
  const { row, expiresAt, startedAt, loss } = item
  const now: Loss = { at: elapsed, since: loss?.since ?? elapsed, startedAt, foreign: loss?.foreign ?? false }
  const after: Uncertain = { kind: 'uncertain', row: { ...row, state: 'uncertain' }, expiresAt, loss: now }
  return recording(row, { kind: 'settle', state: 'uncertain', reason }, after)
}

function waits(
  { row, expiresAt }: Sending,
  reason: string,
  waitMs: number,
  { elapsed }: Pick<Facts, 'elapsed'>,
): Recording {
  const notBefore = elapsed + waitMs
  const after: Item = { kind: 'due', row: { ...row, state: 'waiting', reason }, expiresAt, notBefore }
  return recording(row, { kind: 'settle', state: 'waiting', reason, waitMs }, after)
}

export function recording(row: Delivery, change: Change, after: Item): Recording {
  return { kind: 'recording', id: row.id, row, change, after }
}

export const ENDED: Item = { kind: 'ended' }

/** The waits double up to half a minute; half is jitter, so that conversations do not retry in step. */
export const SEND_PACE = { firstMs: 500, longestMs: 30_000, jitter: 0.5 }
