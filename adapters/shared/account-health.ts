import type { BotIdentity, ChannelHealth } from '../../src/channels/adapter.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Logger } from '../../src/core/logger.ts'

/** The parts that can fail on their own, the most telling first; several may at once. */
const PARTS = ['token', 'connection', 'hearing', 'store', 'sending'] as const
export type HealthPart = (typeof PARTS)[number]

interface HealthSettings {
  /** The platform's name as people write it. */
  readonly platform: string
  readonly account: string
  /** The transport in words for people: `by polling`. */
  readonly receives: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The health of one account, out of what its parts report: status, last proof of receipt, last trouble, identity,
 * hints. It is up while it runs and no part is in trouble. While it runs each change is logged once, not at each try;
 * why a start failed is reported by its caller.
 */
export class AccountHealth {
  readonly #settings: HealthSettings
  readonly #troubles = new Map<HealthPart, string>()
  #phase: 'starting' | 'running' | 'stopped' = 'starting'
  #said: string | undefined
  #lastProofAt: number | undefined
  #lastTrouble: ChannelHealth['lastTrouble']
  #identity: BotIdentity | undefined
  #hints: readonly string[] | undefined

  constructor(settings: HealthSettings) {
    this.#settings = settings
  }

  get identity(): BotIdentity | undefined {
    return this.#identity
  }

  read(): ChannelHealth {
    const detail = this.#detail()
    const status = detail !== undefined ? 'down' : this.#phase === 'starting' ? 'starting' : 'up'
    return {
      status,
      receives: this.#settings.receives,
      ...(detail === undefined ? {} : { detail }),
      ...(this.#lastProofAt === undefined ? {} : { lastProofAt: this.#lastProofAt }),
      ...(this.#lastTrouble === undefined ? {} : { lastTrouble: this.#lastTrouble }),
      ...(this.#identity === undefined ? {} : { identity: this.#identity }),
      ...(this.#hints === undefined ? {} : { hints: this.#hints }),
    }
  }

  /** A start takes back what was wrong before it. */
  enter(phase: 'starting' | 'running' | 'stopped'): void {
    if (phase === 'starting') {
      this.#troubles.clear()
      this.#said = undefined
    }
    this.#phase = phase
    this.#report()
  }

  know(identity: BotIdentity, hints: readonly string[]): void {
    this.#identity = identity
    this.#hints = hints
  }

  /** An event came in, or the answer to a question of ours; a heartbeat is none. */
  proven(): void {
    this.#lastProofAt = this.#settings.clock.now()
  }

  /** Called at each try that fails; `detail` is the reason and the remedy as one line for the operator. */
  trouble(part: HealthPart, detail: string): void {
    this.#troubles.set(part, detail)
    this.#lastTrouble = { detail, at: this.#settings.clock.now() }
    this.#report()
  }

  mended(part: HealthPart): void {
    if (this.#troubles.delete(part)) this.#report()
  }

  #detail(): string | undefined {
    if (this.#phase === 'stopped') return 'stopped'
    return PARTS.map((part) => this.#troubles.get(part)).find((detail) => detail !== undefined)
  }

  #report(): void {
    if (this.#phase !== 'running') return
    const { platform, account, logger } = this.#settings
    const { status, detail } = this.read()
    const said = detail ?? status
    if (said === this.#said) return
    this.#said = said
    if (status === 'up') logger.info(`${platform} is up.`, { account })
    else logger.warn(`${platform} is down.`, { account, detail })
  }
}
