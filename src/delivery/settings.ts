import { notifierOf } from '../core/ids.ts'
import type { Delivery, DeliveryClass } from '../core/outbound.ts'

/** The settings of delivery; every time is in ms. */
export interface DeliverySettings {
  /** A turn that lasts longer than this shows its reply while it grows. */
  readonly liveAfterMs: number
  /** The time a send of unknown outcome rests before it is repeated. */
  readonly uncertainAfterMs: number
  /** The age at which a send's absence from a history means that it never arrived. */
  readonly visibleAfterMs: number
  /** The longest time a part of unknown outcome may hold its conversation. */
  readonly uncertainHoldMs: number
  /** The text before a repeated message. It must need no escaping in any markup. */
  readonly repeatMark: string
  /** The age at which an unsent part is no longer worth sending. */
  readonly expireAfterMs: Readonly<Record<DeliveryClass, number>>
  /** The time the end of a live reply waits for a call in flight; longer than any adapter's own deadline. */
  readonly liveSettleMs: number
  /** The longest time `stop` waits for sends in flight before it aborts them. */
  readonly stopWithinMs: number
  /** The most messages one answer becomes. */
  readonly answerParts: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export const DEFAULT_SETTINGS: DeliverySettings = {
  liveAfterMs: 700,
  uncertainAfterMs: 10_000,
  visibleAfterMs: 3_000,
  uncertainHoldMs: 60_000,
  repeatMark: '(repeat) ',
  expireAfterMs: { reply: 24 * HOUR, effect: HOUR, notice: HOUR, control: 15 * MINUTE },
  liveSettleMs: 20_000,
  stopWithinMs: 8_000,
  answerParts: 20,
}

/** Returns how long a part is worth sending. What a script says may wait for the next start, as long as an answer. */
export function lastsMs(
  { expireAfterMs }: Pick<DeliverySettings, 'expireAfterMs'>,
  { class: kind, source }: Pick<Delivery, 'class' | 'source'>,
): number {
  return expireAfterMs[notifierOf(source) === undefined ? kind : 'reply']
}
