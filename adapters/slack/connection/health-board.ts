import type { BotIdentity, ChannelHealth } from '../../../src/channels/adapter.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { Logger } from '../../../src/core/logger.ts'

/** What can go wrong by itself; several may at once. */
export type Part = 'token' | 'connection' | 'store'

interface BoardParts {
  readonly account: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The health of one account, out of what its parts report. Tells the log of a change once, not at each try. */
export class HealthBoard {
  readonly #parts: BoardParts
  readonly #troubles = new Map<Part, string>()
  #phase: 'starting' | 'running' | 'stopped' = 'starting'
  #said: string | undefined
  #lastProofAt: number | undefined
  #lastTrouble: ChannelHealth['lastTrouble']
  #identity: BotIdentity | undefined
  #hints: readonly string[] | undefined

  constructor(parts: BoardParts) {
    this.#parts = parts
  }

  read(): ChannelHealth {
    const detail = this.#detail()
    const status = detail !== undefined ? 'down' : this.#phase === 'starting' ? 'starting' : 'up'
    return {
      status,
      ...(detail === undefined ? {} : { detail }),
      ...(this.#lastProofAt === undefined ? {} : { lastProofAt: this.#lastProofAt }),
      ...(this.#lastTrouble === undefined ? {} : { lastTrouble: this.#lastTrouble }),
      ...(this.#identity === undefined ? {} : { identity: this.#identity }),
      ...(this.#hints === undefined ? {} : { hints: this.#hints }),
    }
  }

  enter(phase: 'starting' | 'running' | 'stopped'): void {
    if (phase === 'starting') this.#troubles.clear()
    this.#phase = phase
    this.#tell()
  }

  know(identity: BotIdentity, hints: readonly string[]): void {
    this.#identity = identity
    this.#hints = hints
  }

  /** Something came in. */
  proven(): void {
    this.#lastProofAt = this.#parts.clock.now()
  }

  trouble(part: Part, detail: string): void {
    this.#troubles.set(part, detail)
    this.#lastTrouble = { detail, at: this.#parts.clock.now() }
    this.#tell()
  }

  mended(part: Part): void {
    if (this.#troubles.delete(part)) this.#tell()
  }

  #detail(): string | undefined {
    if (this.#phase === 'stopped') return 'stopped'
    return this.#troubles.get('token') ?? this.#troubles.get('connection') ?? this.#troubles.get('store')
  }

  #tell(): void {
    const { account, logger } = this.#parts
    const { status, detail } = this.read()
    const said = detail ?? status
    if (said === this.#said) return
    if (status === 'down' && this.#phase === 'running') logger.warn('Slack is down.', { account, detail })
    if (status === 'up') logger.info('Slack is up.', { account })
    this.#said = said
  }
}
