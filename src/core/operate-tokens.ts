import type { RequestId } from './keyed-request.ts'
import type { StoredToken } from './token.ts'

/** The tokens of programs (S42), as the operator asks for them. */
export interface TokenOperator {
  /**
   * The token is in the answer and nowhere else, ever. `by` is the id of the token that asks: what it makes may do no
   * more than it may itself, for no longer. Throws `invalid` and `forbidden`.
   */
  create(request: NewToken, by?: string): Promise<TokenReport & { readonly token: string }>
  /** Newest first, the revoked ones too. */
  list(): Promise<readonly TokenReport[]>
  /**
   * From now on, also for what it has open, and with it what it has made, which is returned. A token that asks revokes
   * none that may do more. Throws `not_found` and `forbidden`.
   */
  revoke(id: string, by?: string): Promise<readonly NamedToken[]>
}

export interface NewToken {
  /** The sessions it reaches begin with it and a colon: `telegram`, `web:alice`, `api`. */
  readonly namespace?: string | undefined
  /** It reaches what an owner reaches; in place of a namespace. */
  readonly owner?: boolean | undefined
  /** Absent: reading and writing sessions; for an owner's everything but `tokens`; of these what its maker has. */
  readonly scopes?: readonly string[] | undefined
  readonly label?: string | undefined
  /** It ends after so many days; absent: never. */
  readonly days?: number | undefined
  /** Names the request if it is to have its effect once, however often it is made. */
  readonly once?: RequestId | undefined
}

/** A token as it is named to whoever has revoked it. */
export type NamedToken = Pick<StoredToken, 'id' | 'label'>

export type TokenReport = Omit<StoredToken, 'hash'>
