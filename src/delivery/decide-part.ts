import type { TextFormat } from '../channels/adapter.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { ChannelId, DeliveryId } from '../core/ids.ts'
import type { RequestId } from '../core/keyed-request.ts'
import {
  DECIDED,
  type Delivery,
  type DeliveryState,
  hasEnded,
  isDecided,
  type RenderedPart,
  type Undelivered,
} from '../core/outbound.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { entryOf } from './conversation.ts'
import type { PlannedReply } from './plan-rows.ts'
import type { OutcomePorts } from './record.ts'
import { isRepeat, repeated } from './repeat-mark.ts'
import { type DeliverySettings, lastsMs } from './settings.ts'
import { TAKEN_BACK } from './take-back.ts'

export interface DecideDeps extends Pick<OutcomePorts, 'undelivered' | 'retried' | 'recorded'> {
  readonly store: Store
  readonly clock: Clock
  readonly settings: DeliverySettings
  format(channel: ChannelId): TextFormat
  /** Hands planned parts to their conversation. */
  release(planned: PlannedReply): void
}

/** Returns the decisions that an operator may make about single parts. */
export function createPartDecisions(deps: DecideDeps) {
  return {
    retry: (id: DeliveryId, once?: RequestId) => retryPart(deps, id, once),
    drop: (id: DeliveryId) => dropPart(deps, id),
  }
}

/**
 * Sends a part that did not arrive once more, by an operator's word, and what ended behind it in the same message. One
 * that may have arrived is marked as a repeat. Throws `not_found`, and `conflict` for a part that was sent, is still on
 * its way, or has lost its text.
 */
async function retryPart(deps: DecideDeps, id: DeliveryId, once: RequestId | undefined): Promise<void> {
  const { store, clock, settings, release, retried } = deps
  if (once && (await store.read.keyedRequests.effect(once)) !== undefined) return
  await store.write(async (tx) => {
    const part = await found(tx, id)
    checkRetry(part)
    const at = clock.now()
    const parts = (await tx.outbox.ofSource(part.source)).filter((row) => row.partNo >= part.partNo && isUnsent(row))
    for (const row of parts) {
      const { op, lowPriority } = row
      const expiresAt = at + lastsMs(settings, row)
      await tx.outbox.replace(row.id, { op, part: again(deps, row), state: 'planned', lowPriority, at, expiresAt })
    }
    // Its end was recorded as that of the first part: the others ended with it.
    if (part.op !== 'delete') await retried?.(tx, part)
    if (once) await tx.keyedRequests.took(once, id)
    tx.afterCommit(() => {
      failpoint('CP51-retry-committed')
      release({ outcome: 'planned', address: part.address, entries: parts.map((row) => entryOf(row)) })
    })
  })
}

/**
 * Ends a part that is owed still, by an operator's word; at one that has ended undelivered nobody has to look any more.
 * Throws `not_found`, and `conflict` for a part that was sent or is being sent.
 */
async function dropPart({ store, clock, undelivered, recorded }: DecideDeps, id: DeliveryId): Promise<void> {
  await store.write(async (tx) => {
    const row = await found(tx, id)
    const lost = isUndelivered(row.state) && !isDecided(row)
    if (hasEnded(row.state) && !lost) throw new ParleyError('conflict', `${id} has ended: it is ${row.state}.`)
    if (row.state === 'sending') throw new ParleyError('conflict', `${id} is being sent just now; ask again.`)
    const unsent = row.state === 'uncertain' ? 'given_up' : 'expired'
    const ending = { state: isUndelivered(row.state) ? row.state : unsent, reason: DECIDED.dropped } as const
    await tx.outbox.settle(id, { ...ending, at: clock.now() })
    // Its end is on record already.
    if (lost) return
    if (row.op !== 'delete') await undelivered?.(tx, row, ending)
    tx.afterCommit(() => recorded?.(row, ending.state))
  })
}

async function found(tx: StoreWriter, id: DeliveryId): Promise<Delivery> {
  const row = await tx.outbox.get(id)
  if (row) return row
  throw new ParleyError('not_found', `There is no delivery ${id}.`)
}

function checkRetry(row: Delivery): void {
  const { id, state } = row
  if (state === 'sent' || state === 'resent') throw new ParleyError('conflict', `${id} was sent.`)
  if (!hasEnded(state))
    throw new ParleyError('conflict', `${id} is ${state}: it is seen to without you. Drop it first to decide yourself.`)
  if (!isUnsent(row)) throw new ParleyError('conflict', `What ${id} says was deleted or taken back.`)
}

/** It has ended without a proof that it arrived, and what it says is there still, for people to see. */
function isUnsent({ state, op, part, reason }: Delivery): boolean {
  return (
    isUndelivered(state) && reason !== TAKEN_BACK && (op === 'delete' || part.plain !== '' || part.file !== undefined)
  )
}

/** A part of which nobody knows whether it arrived is marked, so that people see why they may have it twice. */
function again({ settings, format }: DecideDeps, { state, op, part, address }: Delivery): RenderedPart {
  if (state !== 'given_up' || op !== 'send' || isRepeat(part, settings.repeatMark)) return part
  return repeated(part, format(address.channel), settings.repeatMark)
}

function isUndelivered(state: DeliveryState): state is Undelivered['state'] {
  return state === 'rejected' || state === 'given_up' || state === 'expired'
}
