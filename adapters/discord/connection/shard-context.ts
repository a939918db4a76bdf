import { DefaultWebSocketManagerOptions, type IContextFetchingStrategy, type SessionInfo } from '@discordjs/ws'
import type { APIGatewayBotInfo } from 'discord.js'
import { INTENTS } from './permissions.ts'

interface ContextDeps {
  readonly token: string
  readonly information: APIGatewayBotInfo
  /** Called when the library asks for its session: before it connects, for each dispatch, and before it resumes. */
  asked(): void
  /** True if the last socket ended without a word of the platform: then its session may resume. */
  isCutOff(): boolean
  /** Called when the library gives the session up, and would begin another one. */
  lost(): void
}

/** After this the library closes a socket that was opened and not greeted, also when nobody looks at it any more. */
const HELLO_WITHIN_MS = 45_000

/**
 * Answers what the library asks about its one shard. It may begin one session; the platform limits them, so that only
 * the keeper of the connection begins another. Once it is over no question is answered: the library knows no end while
 * it reconnects, and goes no further than such a question.
 */
export class ShardContext implements IContextFetchingStrategy {
  readonly options: IContextFetchingStrategy['options']
  readonly #deps: ContextDeps
  #session: SessionInfo | null = null
  #isBegun = false
  #isOver = false
  #isClosed = false

  constructor(deps: ContextDeps) {
    this.#deps = deps
    const { token, information } = deps
    this.options = {
      ...DefaultWebSocketManagerOptions,
      ...{ token, intents: INTENTS, shardCount: 1, gatewayInformation: information },
      // The connection's own clock limits the start of a session.
      ...{ helloTimeout: HELLO_WITHIN_MS, readyTimeout: null },
    }
  }

  /** From now on nothing is connected, resumed or begun. */
  over(): void {
    this.#isOver = true
  }

  /** Called once the shard is being destroyed: what waited in it would else destroy it again, and lose its end. */
  closed(): void {
    this.#isClosed = true
  }

  retrieveSessionInfo(): Promise<never> | SessionInfo | null {
    if (this.#isOver) return never()
    this.#deps.asked()
    return this.#session
  }

  updateSessionInfo(_shardId: number, session: SessionInfo | null): Promise<never> | undefined {
    if (session === null && !this.#isOver) {
      // The library gives up one whose socket could not be opened; it outlives that, and is resumed.
      if (this.#deps.isCutOff()) return undefined
      this.#deps.lost()
    }
    if (this.#isClosed) return never()
    // A number that is none could not be resumed from.
    if (session === null || Number.isSafeInteger(session.sequence)) this.#session = session
    return undefined
  }

  waitForIdentify(): Promise<void> {
    if (this.#isOver || this.#isBegun) return never()
    this.#isBegun = true
    return Promise.resolve()
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}
