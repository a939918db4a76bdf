import type { Clock } from '../core/clock.ts'
import type { IdSource } from '../core/ids.ts'
import type { Delivery, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import { type DeliverySettings, lastsMs } from './settings.ts'

export interface RowDeps {
  readonly ids: IdSource
  readonly clock: Clock
  readonly settings: DeliverySettings
  /** The epoch of this process. */
  readonly epoch: number
}

/** A message without its text. */
export type Envelope = Omit<OutboundMessage, 'text'>

interface NewPart {
  readonly part: RenderedPart
  readonly partNo: number
  /** Set if the send follows at once: the row is `sending` since then instead of planned. */
  readonly startedAt?: number | undefined
}

type Growing = { -readonly [Key in keyof Delivery]: Delivery[Key] }

/** Returns the outbox row of one part as the store will have it. Only the first part visibly answers a message. */
export function newRow(deps: RowDeps, of: Envelope, { part, partNo, startedAt }: NewPart): Delivery {
  const begun = startedAt !== undefined
  const row: Growing = {
    id: deps.ids.delivery(),
    source: of.source,
    partNo,
    traceId: of.traceId,
    address: of.address,
    class: of.class,
    op: 'send',
    part,
    state: begun ? 'sending' : 'planned',
    attempt: begun ? 1 : 0,
    ownerEpoch: begun ? deps.epoch : 0,
    expiresAt: deps.clock.now() + lastsMs(deps.settings, of),
  }
  if (begun) row.startedAt = startedAt
  return withOptions(row, of)
}

function withOptions(row: Growing, of: Envelope): Delivery {
  if (of.session !== undefined) row.sessionId = of.session.id
  if (of.replyTo !== undefined && row.partNo === 0) row.replyTo = of.replyTo
  if (of.reader !== undefined) row.reader = of.reader
  if (of.only !== undefined) row.only = of.only
  if (of.lowPriority !== undefined) row.lowPriority = of.lowPriority
  return row
}
