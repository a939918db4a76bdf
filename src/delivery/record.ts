import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery, DeliveryState, Undelivered } from '../core/outbound.ts'
import type { DeliveryChange, DeliveryReplacement } from '../store/outbox-port.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import type { Activity } from './activity.ts'
import type { Head } from './conversation.ts'
import type { Recording } from './item.ts'
import { inText } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** The listeners for the outcome of a part. */
export interface OutcomePorts {
  /** Called when a send reported that a chat has a new address, so that rules, sessions and links can move with it. */
  moved?(from: Address, to: Address): void
  /**
   * Called in the transaction that records it when a part of class `effect` was delivered, so that the session of its
   * conversation learns of it.
   */
  announced?(tx: StoreWriter, row: Delivery): Promise<void>
  /**
   * Called in the transaction that records it when an answer of a session ended undelivered, so that the session learns
   * of it.
   */
  undelivered?(tx: StoreWriter, row: Delivery, ending: Undelivered): Promise<void>
  /** Called in the transaction in which an answer of a session that had ended undelivered is to be sent once more. */
  retried?(tx: StoreWriter, row: Delivery): Promise<void>
  /**
   * Called in the transaction that records it when a topic or thread takes nothing any more, so that whoever waits for
   * an answer there reads so elsewhere.
   */
  stranded?(tx: StoreWriter, row: Delivery): Promise<void>
  /** Called when the state of a part is on record. */
  recorded?(row: Delivery, state: DeliveryState): void
  /** Called when a message to that address could not be read and was quarantined. */
  unreadable?(to: Address): void
}

interface RecordDeps extends OutcomePorts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly activity: Pick<Activity, 'step'>
}

/**
 * Writes the outcome of a part. The parts after a refused one end with it, since a message with a hole in it helps
 * nobody. May be called again with the same item after the store refused it.
 */
export async function record(deps: RecordDeps, { entry, conversation }: Head, item: Recording): Promise<void> {
  const { store, clock, limiter } = deps
  const { row, movedTo, pauseMs, sentTo } = item
  if (pauseMs !== undefined) limiter.pause(conversation.address, clock.elapsed() + pauseMs)
  if (movedTo !== undefined && !conversation.followed) {
    deps.moved?.(conversation.address, movedTo)
    conversation.address = movedTo
    conversation.followed = true
  }
  const ending = endingOf(item)
  // Each message that is to be deleted stands for itself, and one that stays is no lost answer.
  const deletes = row?.op === 'delete'
  const isRefused = ending?.state === 'rejected' && item.change.kind === 'settle' && !deletes
  const others =
    isRefused || item.change.kind === 'say_where_asked'
      ? conversation.entries.filter((other) => other !== entry && other.source === entry.source)
      : []
  await store.write(async (tx) => {
    await write(tx, item, { place: conversation.address, at: clock.now() })
    if (row && sentTo) await takeAlong(tx, row, { address: sentTo, at: clock.now() })
    for (const { id } of others) {
      await tx.outbox.settle(id, { state: 'rejected', reason: 'an earlier part was refused', at: clock.now() })
    }
    await tellSessions(deps, tx, item, sentTo ?? conversation.address)
  })
  deps.activity.step()
  const left = conversation.entries.filter((other) => !others.includes(other))
  conversation.entries.splice(0, conversation.entries.length, ...left)
  report(deps.logger, item)
  if (row && item.change.kind === 'settle') deps.recorded?.(row, item.change.state)
  if (!row && ending) deps.unreadable?.(conversation.address)
}

/** The later parts of a message go where this part is: they would be refused as it was. */
async function takeAlong(
  { outbox }: StoreWriter,
  { source }: Delivery,
  there: Required<Pick<DeliveryChange, 'address' | 'at'>>,
): Promise<void> {
  for (const { id, state, notBefore } of await outbox.ofSource(source)) {
    if (state !== 'planned' && state !== 'waiting') continue
    await outbox.settle(id, { ...there, state, ...(notBefore === undefined ? {} : { notBefore }) })
  }
}

/** Each message that is to be deleted stands for itself, and one that stays is no lost answer. */
async function tellSessions(deps: RecordDeps, tx: StoreWriter, item: Recording, address: Address): Promise<void> {
  const { row } = item
  const lost = row?.op === 'delete' ? undefined : endingOf(item)
  const sent = row?.class === 'effect' ? sentOf(item) : undefined
  if (!row || (!lost && !sent) || (await isBlankedMeanwhile(tx, row))) return
  if (lost) await deps.undelivered?.(tx, row, lost)
  if (item.stranded) await deps.stranded?.(tx, row)
  if (sent) await deps.announced?.(tx, { ...row, ...sent, address })
}

/**
 * Returns true if the words were taken out of the row while the part was on its way: no log gets what is left of them
 * in memory.
 */
async function isBlankedMeanwhile({ outbox }: StoreWriter, { id, part }: Delivery): Promise<boolean> {
  const stored = await outbox.get(id)
  return stored === undefined || (isBlank(stored.part) && !isBlank(part))
}

function isBlank({ plain, file }: Delivery['part']): boolean {
  return plain === '' && file === undefined
}

async function write(
  tx: StoreWriter,
  { id, row, change, sentTo }: Recording,
  { place, at }: { readonly place: Address; readonly at: number },
): Promise<void> {
  switch (change.kind) {
    case 'settle':
      return tx.outbox.settle(id, {
        ...settlement(change, at),
        ...(row && sentIn(place, row, change.messageId)),
        ...(sentTo && { address: sentTo }),
      })
    case 'send_anew':
      return row && tx.outbox.replace(id, { ...rest(row), op: 'send', state: 'planned', at })
    case 'send_text': {
      const { lowPriority, part } = row ?? {}
      return (
        part &&
        tx.outbox.replace(id, { op: 'send', part: inText(part, change.reason), state: 'planned', lowPriority, at })
      )
    }
    case 'say_where_asked':
      return row && tx.outbox.replace(id, { op: 'send', ...whereAsked(row), state: 'planned', at })
    case 'edit':
      await tx.outbox.settle(id, {
        ...{ state: 'sent', messageId: change.messageId, at },
        ...(row && sentIn(place, row, change.messageId)),
      })
      return row && tx.outbox.replace(id, { ...rest(row), op: 'edit', state: 'planned', at })
  }
}

/**
 * Returns where a message was sent, with its number: its row may name the chat by the id of before a move, or of after
 * one that came while it was being sent.
 */
export function sentIn(
  { chat }: Pick<Address, 'chat'>,
  { op, address }: Pick<Delivery, 'op' | 'address'>,
  messageId: string | undefined,
): Pick<DeliveryChange, 'address'> {
  return op === 'send' && messageId !== undefined ? { address: { ...address, chat } } : {}
}

const WRITE_FIRST =
  'That is for you alone, and I cannot write to you yet: say something to me in a direct chat, then ask again.'

/** Returns the line that stands for an answer which its one reader cannot be sent; it says nothing of the answer. */
function whereAsked({ only, lowPriority }: Delivery): Pick<DeliveryReplacement, 'part' | 'lowPriority' | 'only'> {
  const part = { text: WRITE_FIRST, plain: WRITE_FIRST, markup: 'plain' } as const
  return { part, lowPriority, ...(only && { only: { ...only, otherwise: 'here' } }) }
}

/** Returns the fields that stay as they were. */
function rest({ part, lowPriority }: Delivery): Pick<DeliveryReplacement, 'part' | 'lowPriority'> {
  return { part, lowPriority }
}

/** Returns the row's change, with a wait as a time of day. */
export function settlement(change: Extract<Recording['change'], { kind: 'settle' }>, at: number): DeliveryChange {
  const { kind: _, waitMs, ...settled } = change
  return waitMs === undefined ? { ...settled, at } : { ...settled, notBefore: at + waitMs, at }
}

/** A text that was to be spoken has all that is said; a file that does not arrive is notified of. */
function endingOf({ change, row }: Recording): Undelivered | undefined {
  if (change.kind === 'send_text' && row?.part.file?.as !== 'voice') return { state: 'rejected', reason: change.reason }
  if (change.kind !== 'settle') return undefined
  const { state, reason = '' } = change
  return state === 'rejected' || state === 'given_up' || state === 'expired' ? { state, reason } : undefined
}

function sentOf({ change }: Recording): Pick<Delivery, 'state' | 'messageId'> | undefined {
  if (change.kind !== 'settle' || change.messageId === undefined) return undefined
  return { state: change.state, messageId: change.messageId }
}

function report(logger: Logger, { id, row, change }: Recording): void {
  if (change.kind === 'settle' && change.messageId !== undefined) return
  const { state, reason } =
    change.kind === 'settle' ? change : { state: change.kind, reason: 'reason' in change ? change.reason : undefined }
  const fields = { id, traceId: row?.traceId, state, reason, attempt: row?.attempt }
  if (!row) logger.error('A stored message cannot be read and was set aside', fields)
  else if (state === 'waiting') logger.info('A message waits for another attempt', fields)
  else logger.warn('A message could not be delivered as planned', fields)
}
