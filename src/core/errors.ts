/**
 * Machine codes of everything that can go wrong on purpose; anything else is `internal` and its text stays in the log.
 */
export type ErrorCode =
  | 'invalid'
  | 'too_long'
  | 'not_found'
  | 'conflict'
  | 'forbidden'
  | 'unauthorized'
  | 'too_many'
  | 'too_old'
  | 'unavailable'
  | 'internal'
  | 'unreadable'
  | 'config'
  | 'no_driver'
  | 'store_locked'
  | 'store_newer'
  | 'store_broken'
  | 'migration_failed'
  | 'agent_gone'
  | 'queue_full'
  | 'turn_limit'
  | 'budget_spent'
  | 'aborted'
  | 'quarantined'
  | 'model_unconfigured'
  | 'model_auth'
  | 'model_overloaded'
  | 'model_stalled'
  | 'model_refused'
  | 'model_context_length'
  | 'model_invalid_request'
  | 'model_no_credit'
  | 'model_bad_call'
  | 'model_empty'
  | 'model_cut'
  | 'model_failed'

/** The one error class. `message` is for the operator and names the remedy where there is one. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** The code of any thrown value; what is not ours is `internal`. */
export function errorCode(error: unknown): ErrorCode {
  return error instanceof ParleyError ? error.code : 'internal'
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/**
 * Exit codes of the process. 3: the daemon runs and a channel of it is down. 65 (EX_DATAERR): a migration or an import
 * failed and left the store as it was. It and 78 (EX_CONFIG) are in the unit's RestartPreventExitStatus; 75
 * (EX_TEMPFAIL) is retried, and so is 74 (EX_IOERR): a disk is full, or did not take or confirm a write.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  channelDown: 3,
  migration: 65,
  disk: 74,
  locked: 75,
  config: 78,
} as const

/** Returns undefined for a row that cannot be read, so that it keeps nobody else waiting; throws any other error. */
export function unlessUnreadable(error: unknown): undefined {
  if (errorCode(error) !== 'unreadable') throw error
}
