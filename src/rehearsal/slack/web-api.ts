import type { AppState } from './app-state.ts'
import type { Params } from './params.ts'
import type { Sockets } from './sockets.ts'
import type { SlackWorld } from './world.ts'

/** The parts that a method uses. */
export interface WebApi {
  readonly app: AppState
  readonly world: SlackWorld
  readonly sockets: Sockets
}

/**
 * A method, which takes arguments and returns the fields of an ok answer.
 * @throws SlackApiError for a refusal
 */
export interface Method {
  readonly token: 'bot' | 'app'
  /** The scopes of which any one suffices; if that depends on the conversation, the method checks by itself. */
  readonly scope?: string
  run(api: WebApi, params: Params): Readonly<Record<string, unknown>>
}
