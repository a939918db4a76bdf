import { type ClientOptions, createClient, type ParleyClient } from '../../src/client/client.ts'
import type { Logger } from '../../src/core/logger.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'
import { logOfFailure } from './log-of-failure.ts'

export interface ServedHousehold {
  readonly home: Household
  readonly baseUrl: string
  /** A token of an owner, with every scope but `tokens`. */
  readonly token: string
  /** Returns a client of it, with that token if no other is given. */
  client(options?: Partial<ClientOptions>): ParleyClient
}

/** A household whose API listens on TCP too, at a free port. */
export async function serveHousehold(options: HouseholdOptions = {}): Promise<ServedHousehold> {
  const { logger, listens } = watchPort(options.logger ?? logOfFailure())
  const http = { host: '127.0.0.1', port: 0, hosts: [], origins: [] }
  const home = await startHousehold({ ...options, logger, config: { http, ...options.config } })
  const baseUrl = `http://127.0.0.1:${await listens}`
  const { token } = await home.daemon.operator.tokens.create({ owner: true })
  return { home, baseUrl, token, client: (given) => createClient({ baseUrl, token, ...given }) }
}

/** Only the log names a port that was free. */
function watchPort(logger: Logger): { readonly logger: Logger; readonly listens: Promise<number> } {
  let found: (port: number) => void = () => {}
  const listens = new Promise<number>((resolve) => {
    found = resolve
  })
  const watching = (inner: Logger): Logger => ({
    ...inner,
    info(sentence, fields) {
      if (sentence === 'The API is up') found(Number(fields?.port))
      inner.info(sentence, fields)
    },
    child: (bindings) => watching(inner.child(bindings)),
  })
  return { logger: watching(logger), listens }
}
