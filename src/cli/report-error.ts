import { ParleyError, toError } from '../core/errors.ts'
import type { CliPorts } from './ports.ts'
import { plain } from './print/plain.ts'

/** Prints a failure on stderr: a known error as it is, any other as one line; the stack only with `PARLEY_DEBUG=1`. */
export function reportError({ stderr, env }: Pick<CliPorts, 'stderr' | 'env'>, thrown: unknown): void {
  const error = toError(thrown)
  const debug = env.PARLEY_DEBUG === '1'
  if (debug) stderr.write(`${plain(describe(error))}\n`)
  else if (thrown instanceof ParleyError) stderr.write(`${plain(error.message)}\n`)
  else stderr.write(`Unexpected: ${plain(error.message).split('\n', 1)[0]} (PARLEY_DEBUG=1 shows the stack)\n`)
}

/** Returns the stack of an error and of all its causes. */
function describe(error: Error): string {
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${describe(toError(error.cause))}`
}
