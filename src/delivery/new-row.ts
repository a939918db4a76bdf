import type { Clock } from '../core/clock.ts'
import type { IdSource } from '../core/ids.ts'
import type { OutboundMessage, RenderedPart } from '../core/outbound.ts'
import type { NewDelivery } from '../store/store.ts'
import type { DeliverySettings } from './settings.ts'

export interface RowDeps {
  readonly ids: IdSource
  readonly clock: Clock
  readonly settings: DeliverySettings
}

/** A message without its text. */
export type Envelope = Omit<OutboundMessage, 'text'>

/** The outbox row of one part, planned. Only the first part visibly answers a message. */
export function newRow(deps: RowDeps, of: Envelope, part: RenderedPart, partNo: number): NewDelivery {
  const { source, session, traceId, address, replyTo, only } = of
  return {
    id: deps.ids.delivery(),
    source,
    partNo,
    traceId,
    address,
    class: of.class,
    op: 'send',
    part,
    state: 'planned',
    expiresAt: deps.clock.now() + deps.settings.expireAfterMs[of.class],
    ...(session === undefined ? {} : { sessionId: session.id }),
    ...(replyTo === undefined || partNo > 0 ? {} : { replyTo }),
    ...(only === undefined ? {} : { only }),
  }
}
