import { existsSync } from 'node:fs'
import { errorCode, ParleyError } from '../core/errors.ts'
import type { OperatorService } from '../core/operator.ts'
import { connectLocal } from './local-client.ts'
import type { CliPorts, LoadedConfig } from './ports.ts'
import { socketPathOf } from './socket-path.ts'

const FROM_STORE = 'No daemon is running; read from its store.\n'

/**
 * Asks the running daemon or, if none runs, its store, with `notice` on stderr. Throws `not_found` if there is no store
 * yet.
 */
export async function askOperator<Answer>(
  ports: Pick<CliPorts, 'openOffline' | 'stderr'>,
  loaded: LoadedConfig,
  ask: (operator: OperatorService) => Promise<Answer>,
  notice = FROM_STORE,
): Promise<Answer> {
  const daemon = await connectLocal(socketPathOf(loaded.config))
  if (daemon) return ask(daemon)
  const { path } = loaded.config.store
  // An interrupted restore leaves none for a moment, and the opening says what ends it.
  if (!existsSync(path) && !existsSync(`${path}.restoring`)) {
    throw new ParleyError(
      'not_found',
      `No daemon is running, and there is no store at ${path} yet.\n"parley start" makes it.`,
    )
  }
  const offline = await ports.openOffline(loaded)
  try {
    const answer = await ask(offline)
    ports.stderr.write(notice)
    return answer
  } catch (err) {
    // It needs the daemon, and says so itself: nothing was read.
    if (errorCode(err) !== 'unavailable') ports.stderr.write(notice)
    throw err
  } finally {
    await offline.close()
  }
}
