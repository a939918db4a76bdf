import type { Address } from './address.ts'
import type { TraceId } from './ids.ts'

/** Somebody in direct chats, or a group with all its topics, whom an owner may let in by id. */
export interface Applicant {
  readonly kind: 'person' | 'place'
  /**
   * `telegram:555`, `slack:t01/u5`; `telegram:group:-100123`. With an account that is not the default
   * `telegram@second:555`.
   */
  readonly key: string
}

/** The owner's decision about an applicant; `asked`: there is none yet. */
export type AdmissionState = 'asked' | 'admitted' | 'denied'

/** The part of an admission that routing reads. */
export type AdmissionFact =
  | { readonly state: 'asked' | 'denied' }
  /** `by` is a person or `operator`; `at` is in ms since the epoch. */
  | { readonly state: 'admitted'; readonly by: string; readonly at: number }

/** One applicant as the store keeps it. */
export interface Admission extends Applicant {
  /** An owner decides by typing it: `/admit k7f3d`. It is no secret, because only owners may decide. */
  readonly code: string
  readonly state: AdmissionState
  /** For people to read, never authority. */
  readonly name: string
  /** The place of the first message. */
  readonly address: Address
  readonly traceId: TraceId
  readonly askedAt: number
  /** An owner was notified. */
  readonly toldAt?: number
  readonly decidedAt?: number
  readonly decidedBy?: string
}
