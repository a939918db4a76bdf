import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import { findsOwnMessages, provesSending } from '../channels/capabilities.ts'
import { type Address, isSameChat } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { errorCode } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import { type ChannelId, notifierOf } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { Delivery, DeliveryState } from '../core/outbound.ts'
import type { Store } from '../store/store.ts'
import type { Activity } from './activity.ts'
import type { Calls } from './calls.ts'
import type { Conversation, Head } from './conversation.ts'
import type { Asking, EffectResult, Facts, Item, Looked, Reserved } from './item.ts'
import { rankOf } from './low-priority.ts'
import type { Speaker, SpeakerVerdict } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { type OutcomePorts, record } from './record.ts'
import { repeated } from './repeat-mark.ts'
import type { DeliverySettings } from './settings.ts'
import { lookFor, proveSending, transmit } from './transmit.ts'

export interface PerformDeps extends OutcomePorts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly activity: Pick<Activity, 'step'>
  readonly settings: DeliverySettings
  readonly calls: Calls
  readonly media: Pick<MediaStore, 'read'>
  random(): number
  format(channel: ChannelId): TextFormat
  /** Returns undefined while the adapter is not ready: the conversation waits, and that is no attempt. */
  adapter(address: Address): ChannelAdapter | undefined
  sendAllowed(message: Speaker): SpeakerVerdict
}

/** Returns the facts by which `next` decides, as they are now. */
export function factsOf(
  deps: PerformDeps,
  { address, followed }: Conversation,
  answer: EffectResult | undefined,
): Facts {
  const { clock, settings, calls } = deps
  const adapter = deps.adapter(address)
  return {
    now: clock.now(),
    elapsed: clock.elapsed(),
    settings,
    random: deps.random(),
    ready: adapter !== undefined,
    sameKeyWindowMs: adapter && findsOwnMessages(adapter) ? adapter.sameKeyWindowMs : undefined,
    provesSending: adapter !== undefined && provesSending(adapter),
    wroteAt: calls.wroteAt(address),
    moved: followed === true,
    answer,
  }
}

/** Performs an effect for the head of a conversation. Rejects only when the store does; then nothing was done. */
export async function perform(deps: PerformDeps, effect: Asking, head: Head): Promise<EffectResult> {
  const { item } = head.entry
  switch (effect.do) {
    case 'load':
      return { to: 'load', row: await load(deps, head) }
    case 'reserve':
      return { to: 'reserve', ...slot(deps, head) }
    case 'begin':
      return begin(deps, head, expected(item, 'reserved'))
    case 'call':
      return { to: 'call', receipt: await call(deps, head, expected(item, 'sending').row) }
    case 'look':
      return { to: 'look', found: await look(deps, head, expected(item, 'uncertain')) }
    case 'prove':
      return { to: 'prove', proof: await prove(deps, head) }
    case 'record':
      await record(deps, head, expected(item, 'recording'))
      return { to: 'record' }
  }
}

function expected<Kind extends Item['kind']>(item: Item, kind: Kind): Extract<Item, { kind: Kind }> {
  if (item.kind !== kind) throw new Error(`a part that is ${item.kind} has no such step`)
  return item as Extract<Item, { kind: Kind }>
}

async function load(
  { store }: PerformDeps,
  { entry, conversation }: Head,
): Promise<Delivery | 'unreadable' | undefined> {
  try {
    const row = await store.read.outbox.get(entry.id)
    if (row) follow(conversation, row)
    return row
  } catch (err) {
    if (errorCode(err) === 'unreadable') return 'unreadable'
    throw err
  }
}

/** A chat may have moved while its parts waited: the row knows, unless the platform reported the move at a send. */
function follow(conversation: Conversation, { address }: Delivery): void {
  if (!conversation.followed) conversation.address = address
}

/** Chat and group are asked first, so that a full one books nothing elsewhere. */
function slot(
  { limiter, clock }: PerformDeps,
  { entry, conversation: { address } }: Head,
): { slotAt: number; later: boolean } {
  const now = clock.elapsed()
  const rank = rankOf(entry.lowPriority)
  if (rank > 0) {
    const wait = limiter.takeLow(address, rank)
    return { slotAt: now + wait, later: wait > 0 }
  }
  const wait = limiter.takeChat(address)
  return wait > 0 ? { slotAt: now + wait, later: true } : { slotAt: now + limiter.bookAccount(address), later: false }
}

/** Commits `sending` before the first byte. */
async function begin(deps: PerformDeps, { conversation }: Head, { row: known, as }: Reserved): Promise<EffectResult> {
  const { store, clock, settings } = deps
  const denied = await deniedMeanwhile(deps, known)
  if (denied !== undefined) return { to: 'begin', denied }
  const at = as === 'again' ? (known.startedAt ?? clock.now()) : clock.now()
  const begun = await store.write(async (tx) => {
    const row = await tx.outbox.get(known.id)
    if (!row || !OWED.includes(row.state)) return undefined
    const sending: Delivery = { ...row, state: 'sending', attempt: row.attempt + 1, startedAt: at }
    if (as !== 'repeat') return (await tx.outbox.begin(row.id, OWED, at)) ? sending : undefined
    const part = repeated(row.part, deps.format(row.address.channel), settings.repeatMark)
    await tx.outbox.replace(row.id, { op: 'send', part, state: 'sending', lowPriority: row.lowPriority, at })
    return { ...sending, op: 'send' as const, part }
  })
  if (begun) follow(conversation, begun)
  return { to: 'begin', row: begun }
}

/** A row in another state has ended meanwhile, with its session for example. */
const OWED: readonly DeliveryState[] = ['planned', 'waiting', 'sending', 'uncertain']

async function call(deps: PerformDeps, { conversation: { address } }: Head, row: Delivery) {
  const { calls, clock } = deps
  failpoint('CP11-sending-committed')
  if (row.op !== 'send' && row.address.chat !== address.chat) return { kind: 'rejected', reason: LEFT_BEHIND } as const
  const adapter = deps.adapter(address)
  if (!adapter) return { kind: 'not_sent', reason: 'the channel went away' } as const
  const changed = row.op !== 'send' && row.messageId !== undefined ? { address, messageId: row.messageId } : undefined
  if (changed && row.op === 'edit' && calls.shows(changed, row.part)) {
    deps.limiter.giveBack(address)
    return { kind: 'sent', messageId: changed.messageId } as const
  }
  if (changed) calls.shown(changed)
  const begunAt = clock.elapsed()
  const receipt = await transmit(adapter, row, { address, signal: calls.signal, media: deps.media })
  if (receipt.kind !== 'sent') return receipt
  calls.wrote(address, begunAt)
  if (changed && row.op === 'edit') calls.shown(changed, row.part)
  return receipt
}

/** A group that gets a new id counts its messages anew: that number is another message's there. */
const LEFT_BEHIND = 'the message is one of before its group got a new id'

/** A message that another row owns is not the one looked for, even with the same text. */
async function look(
  deps: PerformDeps,
  { conversation: { address } }: Head,
  { row, loss }: Extract<Item, { kind: 'uncertain' }>,
): Promise<Looked> {
  const { store, clock, logger, calls } = deps
  const adapter = deps.adapter(address)
  if (!adapter) return { kind: 'cannot_tell', reason: 'the channel went away', retryAfterMs: 0 }
  const ageMs = clock.elapsed() - loss.startedAt
  const found = await lookFor(adapter, row, { address, ageMs }, calls.signal)
  logger.info('A message of unknown outcome was looked for', { id: row.id, traceId: row.traceId, found: found.kind })
  if (found.kind !== 'found') return found
  for (const { messageId, outdated = false } of found.messages) {
    const owners = await store.read.outbox.ofMessage(messageId)
    const foreign = owners.some((owner) => owner.id !== row.id && isSameChat(owner.address, address))
    if (!foreign) return { kind: 'found', messageId, outdated }
  }
  return { kind: 'absent' }
}

async function prove(deps: PerformDeps, { conversation: { address } }: Head) {
  const { calls, clock } = deps
  const adapter = deps.adapter(address)
  if (!adapter) return { works: false }
  const begunAt = clock.elapsed()
  const proof = await proveSending(adapter, address, calls.signal)
  if (proof.works) calls.wrote(address, begunAt)
  return proof
}

interface DeniedDeps {
  readonly store: Store
  sendAllowed(message: Speaker): SpeakerVerdict
}

/**
 * Returns the rule that now denies a part which was allowed when it was planned and then waited for its slot, its
 * channel or the next start (T31); undefined if it may go. A message that is shown already is finished, and a command
 * answered, unless the session is not its reader's any more.
 */
async function deniedMeanwhile(
  { store, sendAllowed }: DeniedDeps,
  { sessionId, source, address, reader, class: kind, op }: Delivery,
): Promise<string | undefined> {
  const exempt = kind === 'control' || op !== 'send'
  const speaks = sessionId !== undefined || notifierOf(source) !== undefined
  if (op === 'delete' || (reader === undefined && (exempt || !speaks))) return undefined
  const session = sessionId && (await store.read.sessions.get(sessionId))
  const { allowed, because, parted } = sendAllowed({
    ...{ address, source },
    ...(reader === undefined ? {} : { reader }),
    ...(session ? { session } : {}),
  })
  return allowed || (exempt && !parted) ? undefined : because
}
