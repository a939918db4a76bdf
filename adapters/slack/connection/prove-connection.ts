import { type Clock, sleep } from '../../../src/core/clock.ts'
import type { CallOutcome, SlackClient } from './client.ts'
import { askWho } from './greet.ts'

interface Ports {
  readonly client: SlackClient
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called with each answer to the question. */
  asked(outcome: CallOutcome): void
  /** Called once: something was received again. */
  proven(): void
  /** Called once: nothing was received for so long that the connection is good for nothing. */
  unproven(): void
}

const WITHOUT_PROOF_MS = 60_000
const ASK_AGAIN_MS = 5_000

/**
 * Ends an interruption. That the platform greets a connection and pings it proves no receipt: an event does, or the answer
 * to a question of ours.
 */
export class ConnectionProof {
  readonly #ports: Ports
  #open: AbortController | undefined
  /** Something was received since the last interruption; before the first one it was asked who we are. */
  #heard = true

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Called when a connection broke. */
  lost(): void {
    this.#heard = false
  }

  /** Called for each connection that was greeted. False: nothing is to be asked. */
  seek(): boolean {
    this.#open?.abort()
    this.#open = undefined
    if (this.#heard) {
      this.#ports.proven()
      return false
    }
    const open = new AbortController()
    this.#open = open
    const cancel = this.#ports.clock.after(WITHOUT_PROOF_MS, () => {
      open.abort()
      this.#open = undefined
      this.#ports.unproven()
    })
    open.signal.addEventListener('abort', cancel, { once: true })
    this.#ports.signal.addEventListener('abort', () => open.abort(), { once: true, signal: open.signal })
    void this.#ask(open.signal)
    return true
  }

  /** Called for each event; the first may come before its connection is known to be greeted. */
  found(): void {
    this.#heard = true
    if (this.#open === undefined) return
    this.#open.abort()
    this.#open = undefined
    this.#ports.proven()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { client, clock, asked } = this.#ports
    while (!signal.aborted) {
      const outcome = await askWho(client, signal)
      if (signal.aborted) return
      asked(outcome)
      // A refusal of the platform is an answer too; what is wrong with the token is told by itself.
      if (outcome.kind === 'answered' || (outcome.kind === 'refused' && outcome.stranger === undefined)) this.found()
      else await sleep(clock, ASK_AGAIN_MS, signal)
    }
  }
}
