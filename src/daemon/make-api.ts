import type { Config } from '../config/config.ts'
import type { Caller } from '../core/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { ApiService } from '../core/operator.ts'
import { startHttpApi } from '../http/http-api.ts'
import { startLocalApi } from '../http/local-api.ts'
import type { TokenService } from '../sessions/people/tokens.ts'
import type { ChatDesk } from '../sessions/service/chat-desk.ts'
import { createKeyedRequests } from '../sessions/service/keyed-requests.ts'
import type { LiveHub } from '../sessions/service/live-events.ts'
import { createOperator, type OperatorSources } from './operator.ts'

interface ApiDeps {
  readonly config: Pick<Config, 'http'>
  readonly socketPath: string
  readonly clock: Clock
  readonly logger: Logger
  readonly sources: OperatorSources
  readonly tokens: Pick<TokenService, 'verify'>
  readonly live: Pick<LiveHub, 'of'>
  readonly chat: ChatDesk
}

/** Serves the API: on the local socket to the operator, and on TCP to whoever brings a token, where that is set. */
export async function startApi(deps: ApiDeps): Promise<{ close(): Promise<void> }> {
  const { config, socketPath, clock, sources, tokens, live, chat } = deps
  const logger = deps.logger.child({ subsystem: 'api' })
  const requests = createKeyedRequests(sources)
  const apiOf = (caller: Caller): ApiService => ({
    ...createOperator(sources, caller),
    ...{ live: live.of(caller), chat: chat(caller) },
  })
  const local = await startLocalApi({ socketPath, service: apiOf({ kind: 'operator' }), requests, clock, logger })
  if (config.http === undefined) return local
  try {
    const http = await startHttpApi({ ...config.http, clock, logger, requests, verify: tokens.verify, apiOf })
    return { close: async () => void (await Promise.all([local.close(), http.close()])) }
  } catch (error) {
    await local.close()
    throw error
  }
}
