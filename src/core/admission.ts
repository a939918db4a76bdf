import type { Address } from './address.ts'
import type { TraceId } from './ids.ts'

/** Who or what may be let in by an owner, by id: somebody in direct chats, or a group with all its topics. */
export interface Applicant {
  readonly kind: 'person' | 'place'
  /** `telegram:555`, `slack:t01/u5`; `telegram:group:-100123`. With an account that is not the default `telegram@second:555`. */
  readonly key: string
}

/** What an owner said about an applicant; `asked`: nothing yet. */
export type AdmissionState = 'asked' | 'admitted' | 'denied'

/** What routing needs to know of an admission. */
export type AdmissionFact =
  | { readonly state: 'asked' | 'denied' }
  /** Who decided, a person or `operator`, and when, ms since the epoch. */
  | { readonly state: 'admitted'; readonly by: string; readonly at: number }

/** One applicant as the store keeps it. */
export interface Admission extends Applicant {
  /** What an owner types to decide: `/admit k7f3d`. No secret: only owners may decide. */
  readonly code: string
  readonly state: AdmissionState
  /** For people to read, never authority. */
  readonly name: string
  /** Where the first message was. */
  readonly address: Address
  readonly traceId: TraceId
  readonly askedAt: number
  /** An owner was told. */
  readonly toldAt?: number
  readonly decidedAt?: number
  readonly decidedBy?: string
}
