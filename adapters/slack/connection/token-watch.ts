import { backOffMs } from '../../../src/core/backoff.ts'
import { type Clock, sleep } from '../../../src/core/clock.ts'
import { isTokenRefusal } from '../outbound/receipts.ts'
import type { CallOutcome, SlackClient } from './client.ts'
import { askWho } from './greet.ts'
import { botTrouble } from './trouble.ts'

interface WatchPorts {
  readonly client: SlackClient
  readonly clock: Clock
  readonly signal: AbortSignal
  onRefused(detail: string): void
  onGood(): void
}

/** A refused token is asked for again, for ever: it may be given back without a restart. */
const PACE = { firstMs: 5000, longestMs: 60_000 }

/** Notices a bot token that is refused while the account runs, and when it is good again. */
export class TokenWatch {
  readonly #ports: WatchPorts
  #probing = false

  constructor(ports: WatchPorts) {
    this.#ports = ports
  }

  /** Looks at what any call brought. */
  see(outcome: CallOutcome): void {
    if (outcome.kind === 'refused' && isTokenRefusal(outcome)) this.check()
  }

  /** There is reason to ask; asks until the token is good. One at a time. */
  check(): void {
    if (this.#probing || this.#ports.signal.aborted) return
    this.#probing = true
    void this.#probe()
  }

  async #probe(): Promise<void> {
    const { client, clock, signal } = this.#ports
    let refused = false
    for (let attempt = 1; !signal.aborted; attempt++) {
      const outcome = await askWho(client, signal)
      if (signal.aborted) return
      if (outcome.kind === 'refused' && isTokenRefusal(outcome)) {
        refused = true
        this.#ports.onRefused(botTrouble(outcome).detail)
      } else if (!refused || outcome.kind === 'answered') break
      await sleep(clock, backOffMs(attempt, PACE), signal)
    }
    this.#probing = false
    if (!signal.aborted) this.#ports.onGood()
  }
}
