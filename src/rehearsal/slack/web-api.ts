import type { AppState } from './app-state.ts'
import type { Params } from './params.ts'
import type { Sockets } from './sockets.ts'
import type { SlackWorld } from './world.ts'

/** What a method works on. */
export interface WebApi {
  readonly app: AppState
  readonly world: SlackWorld
  readonly sockets: Sockets
}

/** A method: arguments in, the fields of an ok answer out. @throws SlackApiError for a refusal */
export interface Method {
  readonly token: 'bot' | 'app'
  /** Any one of these suffices; where it depends on the conversation the method checks by itself. */
  readonly scope?: string
  run(api: WebApi, params: Params): Readonly<Record<string, unknown>>
}
