import type { TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { type ChannelId, isTurnId } from '../core/ids.ts'
import type { Delivery, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import type { StoreWriter } from '../store/store.ts'
import { type Entry, entryOf } from './conversation.ts'
import { newRow, type RowDeps } from './new-row.ts'
import { apart, planReply, type ReplyPlan, type Speaker, type SpeakerVerdict } from './plan-reply.ts'

/** The decision about a message, and what `release` hands to its queue after the commit. */
export interface PlannedReply {
  readonly outcome: 'silent' | 'empty' | 'denied' | 'parted' | 'planned'
  /** The rule that denied it. */
  readonly because?: string
  readonly address: Address
  readonly entries: readonly Entry[]
}

export interface PlanDeps extends RowDeps {
  format(channel: ChannelId): TextFormat
  /** Returns the present address of a place. */
  follow?(address: Address): Address
  /** The mark before a typed command; absent: the slash. */
  commandMark?(channel: ChannelId): string | undefined
  sendAllowed(message: Speaker): SpeakerVerdict
  /** Claims a slot and announces the part; returns true if it may leave right after the commit. */
  claim(tx: StoreWriter, message: OutboundMessage): boolean
}

interface Planning {
  readonly deps: PlanDeps
  readonly tx: StoreWriter
  readonly message: OutboundMessage
}

/** Writes the rows of a message. The row of a live reply becomes the final edit or is deleted (F-A04). */
export function planRows(deps: PlanDeps, tx: StoreWriter, given: OutboundMessage): Promise<PlannedReply> {
  const message = asTyped(inPresentChat(deps, given), deps.commandMark?.(given.address.channel))
  const into = { format: deps.format(message.address.channel), most: deps.settings.answerParts }
  const plan = planReply(message, into, deps.sendAllowed(message))
  const planning = { deps, tx, message }
  return plan.kind === 'parts' ? say(planning, plan.parts) : sayNothing(planning, plan)
}

/**
 * Returns the message as one to the chat by its present id, where it is sent behind what was planned before; it names
 * no message there, as these are counted anew.
 */
function inPresentChat({ follow }: Pick<PlanDeps, 'follow'>, message: OutboundMessage): OutboundMessage {
  const address = follow?.(message.address) ?? message.address
  if (address === message.address) return message
  const { replyTo: _, ...rest } = message
  return { ...rest, address }
}

/**
 * Most answers are one part of which nothing was shown before. That is assumed without asking: the store accepts each
 * part of a source once and refuses the row where it is not so.
 */
async function say(planning: Planning, parts: readonly RenderedPart[]): Promise<PlannedReply> {
  const { deps, tx, message } = planning
  // A part of class `effect` is `sending` only when its send is next: a crash before that loses nothing.
  const startedAt = message.class !== 'effect' && deps.claim(tx, message) ? deps.clock.now() : undefined
  const [part, second] = parts
  if (part === undefined || second !== undefined) return sayAll(planning, parts, startedAt)
  const row = newRow(deps, message, { part, partNo: 0, startedAt })
  try {
    await tx.outbox.add([row])
  } catch (err) {
    if (errorCode(err) !== 'conflict' || !isTurnId(message.source)) throw err
    return sayAll(planning, parts, startedAt)
  }
  return { outcome: 'planned', address: message.address, entries: [plannedEntry(deps, row)] }
}

/** The first part replaces what was shown, unless it goes below it. No edit gives a message a file. */
async function sayAll(
  planning: Planning,
  planned: readonly RenderedPart[],
  startedAt: number | undefined,
): Promise<PlannedReply> {
  const { deps, tx } = planning
  const row = await growing(tx, planning.message.source)
  const message = row === undefined ? planning.message : beside(row, planning.message)
  const parts = row === undefined ? planned : planned.flatMap((part) => apart(part))
  const stays = row !== undefined && isShown(row) && message.below !== undefined && message.below.shown === undefined
  const entries: Entry[] = []
  const rows: Delivery[] = []
  for (const [at, part] of parts.entries()) {
    const partNo = stays ? at + 1 : at
    if (at > 0) rows.push(newRow(deps, message, { part, partNo }))
    else if (row && !stays) entries.push(await replaceShown(planning, row, part, startedAt))
    else rows.push(newRow(deps, message, { part, partNo, startedAt }))
  }
  if (rows.length > 0) await tx.outbox.add(rows)
  for (const row of rows) entries.push(plannedEntry(deps, row))
  return { outcome: 'planned', address: planning.message.address, entries }
}

/** Returns the message as one to the place in which its first part is: the platform may have refused the topic. */
function beside({ address }: Delivery, message: OutboundMessage): OutboundMessage {
  return address.chat === message.address.chat ? { ...message, address } : message
}

async function sayNothing(planning: Planning, plan: Exclude<ReplyPlan, { kind: 'parts' }>): Promise<PlannedReply> {
  const { address, source } = planning.message
  const entries = await retract(planning, await growing(planning.tx, source))
  return plan.kind === 'denied'
    ? { outcome: 'denied', because: plan.because, address, entries }
    : { outcome: plan.kind, address, entries }
}

/** Returns the row of a reply that was shown while its turn ran. Throws `conflict` if its final answer is planned. */
async function growing(tx: StoreWriter, source: OutboundMessage['source']): Promise<Delivery | undefined> {
  if (!isTurnId(source)) return undefined
  const [shown, ...others] = await tx.outbox.ofSource(source)
  if (others.length > 0) throw new ParleyError('conflict', `the answer of ${source} is in the outbox already`)
  return shown
}

/** The entry carries the row only if its send follows at once; any other row is read when it is next. */
function plannedEntry({ clock, settings }: PlanDeps, row: Delivery): Entry {
  if (row.state !== 'sending') return entryOf(row)
  const startedAt = clock.elapsed()
  const expiresAt = startedAt + settings.expireAfterMs[row.class]
  return entryOf(row, { kind: 'sending', row, expiresAt, startedAt, as: 'first' })
}

/**
 * Replaces a growing reply by the final answer: an edit if it is visible, its first text if it never was, and
 * reconciled like any lost send if that is unknown. It has the priority of the whole message, since whoever joined the
 * turn waits for it too.
 */
async function replaceShown(
  { deps, tx, message: { lowPriority } }: Planning,
  { lowPriority: _, ...shown }: Delivery,
  part: RenderedPart,
  startedAt: number | undefined,
): Promise<Entry> {
  const { id } = shown
  const at = deps.clock.now()
  const row: Delivery = lowPriority === undefined ? shown : { ...shown, lowPriority }
  if (shown.state === 'uncertain' || shown.state === 'sending') {
    await tx.outbox.replace(id, { op: 'send', part, state: 'uncertain', lowPriority, at })
    return entryOf(row)
  }
  const op = isShown(shown) ? 'edit' : 'send'
  if (startedAt === undefined) {
    await tx.outbox.replace(id, { op, part, state: 'planned', lowPriority, at })
    return entryOf(row)
  }
  await tx.outbox.replace(id, { op, part, state: 'sending', lowPriority, at: startedAt })
  return plannedEntry(deps, { ...row, op, part, state: 'sending', attempt: shown.attempt + 1, startedAt })
}

/** Deletes what a growing reply showed (S28). */
async function retract({ deps, tx }: Planning, shown: Delivery | undefined): Promise<readonly Entry[]> {
  if (!shown) return []
  const { id } = shown
  const at = deps.clock.now()
  if (isShown(shown)) {
    const { part, lowPriority } = shown
    await tx.outbox.replace(id, { op: 'delete', part, state: 'planned', lowPriority, at })
    return [entryOf(shown)]
  }
  const reason = 'there was nothing to say in the end'
  if (shown.state === 'waiting' || shown.state === 'planned') {
    await tx.outbox.settle(id, { state: 'expired', reason, at })
  } else if (shown.state === 'uncertain' || shown.state === 'sending') {
    await tx.outbox.settle(id, { state: 'given_up', reason, at })
  }
  return []
}

export function isShown({ state, messageId }: Delivery): boolean {
  return (state === 'sent' || state === 'resent') && messageId !== undefined
}

/**
 * Returns a message with the commands that it names as they are typed there: some platforms keep the slash for
 * themselves. Only words of Parley's own name commands in code; those of a model stay as they are, and so does whatever
 * stands in a block, such as the arguments of a call.
 */
export function asTyped(message: OutboundMessage, mark: string | undefined): OutboundMessage {
  if (mark === undefined || (message.class !== 'control' && message.class !== 'notice')) return message
  const pieces = message.text.split(FENCE)
  const text = pieces.map((piece, at) => (at % 2 === 0 ? piece.replace(COMMAND, `$1${mark}`) : piece)).join(FENCE)
  return { ...message, text }
}

const FENCE = '```'
/** Matches up to the slash of a command; a path has another slash where a command ends. */
const COMMAND = /(`)\/(?=[a-z]+[ `])/g
