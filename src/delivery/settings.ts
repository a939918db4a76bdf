import type { DeliveryClass } from '../core/outbound.ts'

/** Every time is in ms. */
export interface DeliverySettings {
  /** A turn that lasts longer than this shows its reply while it grows. */
  readonly liveAfterMs: number
  /** How long a send of unknown outcome rests before it is repeated. */
  readonly uncertainAfterMs: number
  /** How long the repeat waits at most for a proof that sending works, where nothing can be asked for one. */
  readonly unprovenAfterMs: number
  /** How old a send must be before its absence from a history means that it never arrived. */
  readonly visibleAfterMs: number
  /** How long a part of unknown outcome may hold its conversation at most. */
  readonly uncertainHoldMs: number
  /** Stands before a repeated message. Must need no escaping in any markup. */
  readonly repeatMark: string
  /** Age at which an unsent part is no longer worth sending. */
  readonly expireAfterMs: Readonly<Record<DeliveryClass, number>>
  /** How long the end of a live reply waits for a call in flight; longer than any adapter's own deadline. */
  readonly liveSettleMs: number
  /** How long `stop` waits at most for sends in flight before it aborts them. */
  readonly stopWithinMs: number
  /** Messages that one answer becomes at most. */
  readonly answerParts: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export const DEFAULT_SETTINGS: DeliverySettings = {
  liveAfterMs: 700,
  uncertainAfterMs: 10_000,
  unprovenAfterMs: 5 * MINUTE,
  visibleAfterMs: 3_000,
  uncertainHoldMs: 60_000,
  repeatMark: '(repeat) ',
  expireAfterMs: { reply: 24 * HOUR, effect: HOUR, notice: HOUR, control: 15 * MINUTE },
  liveSettleMs: 20_000,
  stopWithinMs: 8_000,
  answerParts: 20,
}
