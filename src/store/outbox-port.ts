import type { DeliveryOp, DeliveryState, LowPriority, RenderedPart } from '../core/outbound.ts'

export interface DeliveryChange {
  readonly state: DeliveryState
  readonly messageId?: string
  readonly reason?: string
  readonly notBefore?: number
  readonly at: number
}

export interface DeliveryReplacement {
  readonly op: DeliveryOp
  readonly part: RenderedPart
  /** `uncertain`: a call with the part before this one was lost; that part is kept as `earlier`. */
  readonly state: 'planned' | 'sending' | 'uncertain'
  /** That of the message as it is now. */
  readonly lowPriority: LowPriority | undefined
  readonly at: number
  /** The new end of the time in which it may be sent, where it begins anew. */
  readonly expiresAt?: number
}
