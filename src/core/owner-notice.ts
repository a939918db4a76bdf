import type { Address } from './address.ts'
import type { AccountId, ChannelId } from './ids.ts'

/** A line that owners get in private because only a person can mend what it is about. */
export interface OwnerNotice {
  /** A short word for what it is about, the same each time. */
  readonly about: string
  readonly text: string
  /** The place in which it is said besides: the owner whose direct chat that is gets no notice. */
  readonly saidIn?: Address
}

/** One account of a channel. */
export interface AccountAt {
  readonly channel: ChannelId
  readonly account: AccountId
}
