import { ParleyError, toError } from '../core/errors.ts'
import { isFull } from '../core/full-disk.ts'
import type { CliPorts } from './ports.ts'
import { plain } from './print/plain.ts'

/**
 * Prints a failure on stderr: a known error as it is, a full disk with the remedy, any other as one line; the stack
 * only with `PARLEY_DEBUG=1`.
 */
export function reportError({ stderr, env }: Pick<CliPorts, 'stderr' | 'env'>, thrown: unknown): void {
  const error = toError(thrown)
  const debug = env.PARLEY_DEBUG === '1'
  if (debug) stderr.write(`${plain(describe(error))}\n`)
  else if (thrown instanceof ParleyError) stderr.write(`${plain(error.message)}\n`)
  else if (isFull(error)) stderr.write(`${plain(error.message).split('\n', 1)[0]}. ${NO_ROOM}\n`)
  else stderr.write(`Unexpected: ${plain(error.message).split('\n', 1)[0]} (PARLEY_DEBUG=1 shows the stack)\n`)
}

/** A disk may have bytes and no entry left for one more file. */
const NO_ROOM = 'Free some space there, or remove some files where "df -i" shows none left, then try again.'

/** Returns the stack of an error and of all its causes. */
function describe(error: Error): string {
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${describe(toError(error.cause))}`
}
