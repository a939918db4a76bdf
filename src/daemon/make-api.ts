import type { Config } from '../config/config.ts'
import type { Caller } from '../core/caller.ts'
import type { Clock } from '../core/clock.ts'
import { deferred } from '../core/deferred.ts'
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
  /** Resumes what was interrupted: once nothing can prevent the start any more, before anything new is accepted. */
  recover(this: void): Promise<void>
}

/**
 * Serves the API: on the local socket to the operator, and on TCP to whoever brings a token, where that is set. Nothing
 * but a probe is answered before `recover` has resolved; where a port is taken, nothing is resumed, for the next start
 * would count that as a crash of what was.
 */
export async function startApi(deps: ApiDeps): Promise<{ close(): Promise<void> }> {
  const recovered = deferred()
  const api = await bindApi(deps, recovered.promise)
  try {
    await deps.recover()
  } catch (error) {
    await api.close()
    throw error
  }
  recovered.resolve()
  return api
}

async function bindApi(deps: ApiDeps, ready: Promise<void>): Promise<{ close(): Promise<void> }> {
  const { config, socketPath, clock, sources, tokens, live, chat } = deps
  const logger = deps.logger.child({ subsystem: 'api' })
  const requests = createKeyedRequests(sources)
  const apiOf = (caller: Caller): ApiService => ({
    ...createOperator(sources, caller),
    ...{ live: live.of(caller), chat: chat(caller) },
  })
  const common = { requests, ready, clock, logger }
  const local = await startLocalApi({ ...common, socketPath, service: apiOf({ kind: 'operator' }) })
  if (config.http === undefined) return local
  try {
    const http = await startHttpApi({ ...config.http, ...common, verify: tokens.verify, apiOf })
    return { close: async () => void (await Promise.all([local.close(), http.close()])) }
  } catch (error) {
    await local.close()
    throw error
  }
}
