import type { TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import { ParleyError } from '../core/errors.ts'
import { type ChannelId, isTurnId } from '../core/ids.ts'
import type { Delivery, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import type { NewDelivery, StoreWriter } from '../store/store.ts'
import type { LaneItem } from './lanes.ts'
import { newRow, type RowDeps } from './new-row.ts'
import { planReply, type ReplyPlan, type SendVerdict, type Speaker } from './plan-reply.ts'

/** What became of a message at the gate, and what `release` has to hand to its lane after the commit. */
export interface PlannedReply {
  readonly outcome: 'silent' | 'empty' | 'denied' | 'planned'
  /** The rule that denied it. */
  readonly because?: string
  readonly address: Address
  readonly items: readonly LaneItem[]
}

export interface PlanDeps extends RowDeps {
  readonly epoch: number
  format(channel: ChannelId): TextFormat
  sendAllowed(message: Speaker): SendVerdict
  /** Takes a slot and announces the part if it may leave right after the commit. */
  claim(message: OutboundMessage): boolean
}

/** Writes the rows of a message. A live reply has its row already; that becomes the final edit, or is taken back (A04). */
export async function planRows(deps: PlanDeps, tx: StoreWriter, message: OutboundMessage): Promise<PlannedReply> {
  const plan = planReply(message, deps.format(message.address.channel), deps.sendAllowed(message))
  const shown = await growing(tx, message.source)
  const planning: Planning = { deps, tx, message }
  const items = plan.kind === 'parts' ? await write(planning, plan.parts, shown) : await retract(planning, shown)
  return { ...verdictOf(plan), address: message.address, items }
}

/** The row of a reply that was shown while its turn ran. Only turns have one; more rows than it are a final already (P33). */
async function growing(tx: StoreWriter, source: OutboundMessage['source']): Promise<Delivery | undefined> {
  if (!isTurnId(source)) return undefined
  const [shown, ...others] = await tx.outbox.ofSource(source)
  if (others.length > 0) throw new ParleyError('conflict', `the answer of ${source} is in the outbox already`)
  return shown
}

function verdictOf(plan: ReplyPlan): Pick<PlannedReply, 'outcome' | 'because'> {
  if (plan.kind === 'parts') return { outcome: 'planned' }
  return plan.kind === 'denied' ? { outcome: 'denied', because: plan.because } : { outcome: plan.kind }
}

interface Planning {
  readonly deps: PlanDeps
  readonly tx: StoreWriter
  readonly message: OutboundMessage
}

async function write(
  planning: Planning,
  parts: readonly RenderedPart[],
  shown: Delivery | undefined,
): Promise<readonly LaneItem[]> {
  const { deps, tx, message } = planning
  const [first, ...rest] = parts
  if (!first) return []
  const head = shown ? [await replaceShown(planning, shown, first)] : []
  const at = deps.clock.now()
  // What must not happen twice is `sending` only once its send is next: a crash before that loses nothing.
  const goesAtOnce = !shown && message.class !== 'effect' && deps.claim(message)
  const rows = (shown ? rest : parts).map((part, index): NewDelivery => {
    const row = newRow(deps, message, part, shown ? index + 1 : index)
    return index === 0 && goesAtOnce ? { ...row, state: 'sending', startedAt: at } : row
  })
  if (rows.length > 0) await tx.outbox.add(rows)
  return [...head, ...rows.map((row) => itemOf(row, deps.epoch))]
}

/** The row travels with the item only where its send follows at once; all others are read when their turn comes. */
function itemOf(row: NewDelivery, epoch: number): LaneItem {
  const { id, source } = row
  return row.state === 'sending'
    ? { id, source, row: { ...row, attempt: 1, ownerEpoch: epoch }, begun: true }
    : { id, source }
}

/** Visible: an edit. Never visible: the final text is its first. Unknown: reconciled like any other lost send. */
async function replaceShown({ deps, tx, message }: Planning, shown: Delivery, part: RenderedPart): Promise<LaneItem> {
  const { id, source } = shown
  const at = deps.clock.now()
  if (shown.state === 'uncertain' || shown.state === 'sending') {
    await tx.outbox.replace(id, { op: 'send', part, state: 'planned', at })
    await tx.outbox.settle(id, { state: 'uncertain', reason: 'the growing reply was lost sight of', at })
    return { id, source }
  }
  const op = isShown(shown) ? 'edit' : 'send'
  const goesAtOnce = deps.claim(message)
  await tx.outbox.replace(id, { op, part, state: goesAtOnce ? 'sending' : 'planned', at })
  if (!goesAtOnce) return { id, source }
  const row: Delivery = { ...shown, op, part, state: 'sending', attempt: shown.attempt + 1, startedAt: at }
  return { id, source, row, begun: true }
}

/** Removes what a growing reply showed (S28). */
async function retract({ deps, tx }: Planning, shown: Delivery | undefined): Promise<readonly LaneItem[]> {
  if (!shown) return []
  const { id, source } = shown
  const at = deps.clock.now()
  if (isShown(shown)) {
    await tx.outbox.replace(id, { op: 'delete', part: shown.part, state: 'planned', at })
    return [{ id, source }]
  }
  const reason = 'there was nothing to say in the end'
  if (shown.state === 'waiting' || shown.state === 'planned') {
    await tx.outbox.settle(id, { state: 'expired', reason, at })
  } else if (shown.state === 'uncertain' || shown.state === 'sending') {
    await tx.outbox.settle(id, { state: 'given_up', reason, at })
  }
  return []
}

function isShown({ state, messageId }: Delivery): boolean {
  return (state === 'sent' || state === 'resent') && messageId !== undefined
}
