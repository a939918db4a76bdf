declare const brand: unique symbol
/** Names one request that carried a key, for as long as the key is kept. */
export type RequestId = string & { readonly [brand]: 'RequestId' }

/** A request with an `Idempotency-Key`, as it is kept: without the key itself. Times are ms since the epoch. */
export interface KeyedRequest {
  /** SHA-256 of who sent it, the route and the key, hex. */
  readonly key: string
  readonly id: RequestId
  /** The id of the token, or `operator`. */
  readonly holder: string
  /** SHA-256 of the path, the query and the body, hex. */
  readonly content: string
  readonly begunAt: number
  /** The thing it made, noted in the same transaction: a crash leaves both or neither. */
  readonly effect?: string
  readonly answer?: KeptAnswer
}

/** An answer that is given again; without a body it was given once and is not kept. */
export interface KeptAnswer {
  readonly status: number
  readonly body?: string
}

/** A request that asks to have its effect once. */
export interface AskedOnce {
  readonly holder: string
  readonly route: string
  /** The key, as the client chose it. */
  readonly key: string
  readonly content: string
}

/**
 * `answer`: the first answer is kept and given again, unless something was forgotten while it was made. `numbers`: it
 * has no words and is kept in any case. `effect`: it is read again from what the request made, so that no words are
 * kept twice. `nothing`: it holds a secret and is never given again.
 */
export type Kept = 'answer' | 'numbers' | 'effect' | 'nothing'

/** Names requests that have no key by what they say, so that one that comes again is known. */
export interface Repeats {
  /**
   * Returns the id of a request. One that said the same has it too, during its run and for ten minutes after,
   * unless its answer was given.
   */
  begin(asked: Omit<AskedOnce, 'key'>): Promise<RequestId>
  /** Called once its answer was given: whoever says the same again asks anew. */
  given(id: RequestId): Promise<void>
}

/** Carries out requests that have a key at most once a day each (F-K08). */
export interface KeyedRequests {
  /**
   * Calls `carryOut` unless the request was carried out, and returns its answer; a request that is under way is waited
   * for. `carryOut` hands the id to the service, which makes nothing twice for one id: after a crash it is called
   * again. Throws `conflict` for another request with the same key, and for an answer that is not kept.
   */
  once(asked: AskedOnce, kept: Kept, carryOut: (id: RequestId) => Promise<Required<KeptAnswer>>): Promise<KeptAnswer>
}
