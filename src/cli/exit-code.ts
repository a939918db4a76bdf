import { type ErrorCode, EXIT, errorCode } from '../core/errors.ts'

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid: EXIT.usage,
  too_long: EXIT.usage,
  store_locked: EXIT.locked,
  store_broken: EXIT.disk,
  migration_failed: EXIT.migration,
  config: EXIT.config,
  // Only another program, file or installation fixes these, so a service manager must not try again.
  no_driver: EXIT.config,
  store_newer: EXIT.config,
}

/** Returns the exit code of a command that failed. */
export function exitCodeOf(error: unknown): number {
  return CODES[errorCode(error)] ?? EXIT.failed
}
