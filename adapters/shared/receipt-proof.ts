import { type Clock, sleep } from '../../src/core/clock.ts'
import { linkedAbort } from './deadline.ts'

interface ProofPorts {
  readonly clock: Clock
  readonly signal: AbortSignal
  /**
   * Asks the platform something. True: it answered, a refusal being an answer too. A platform that proves receipt by
   * telling something alone is asked nothing, and this is left out.
   */
  readonly ask: ((signal: AbortSignal) => Promise<boolean>) | undefined
  /** Called once for each interruption: something was received again. */
  proven(): void
  /** Called once for each interruption: nothing was received for so long that the connection is good for nothing. */
  unproven(): void
}

/** An interruption without a proof of receipt for so long is over for good, whatever else the line answers. */
export const WITHOUT_PROOF_MS = 60_000
const ASK_AGAIN_MS = 5_000

/**
 * Ends an interruption. A line that stands, greets and answers heartbeats proves no receipt: an event does, or the
 * answer to a question of ours.
 */
export class ReceiptProof {
  readonly #ports: ProofPorts
  #search: AbortController | undefined
  /** Something was received since the last interruption; before the first one the platform was asked who we are. */
  #received = true

  constructor(ports: ProofPorts) {
    this.#ports = ports
  }

  /** True while a proof is awaited. */
  get isSought(): boolean {
    return this.#search !== undefined
  }

  /** Called when a connection broke: what was received before proves nothing any more. */
  lost(): void {
    this.#received = false
  }

  /** Waits for a proof, at most `WITHOUT_PROOF_MS`. False: something was received already. */
  seek(): boolean {
    this.end()
    if (this.#received) {
      this.#ports.proven()
      return false
    }
    const { clock, signal } = this.#ports
    const search = linkedAbort(signal)
    if (search.signal.aborted) return true
    this.#search = search
    const cancel = clock.after(WITHOUT_PROOF_MS, () => {
      this.end()
      this.#ports.unproven()
    })
    search.signal.addEventListener('abort', cancel, { once: true })
    void this.#ask(search.signal)
    return true
  }

  /** Called for each event; the first may come before its connection is known to stand. */
  found(): void {
    this.#received = true
    if (this.#search === undefined) return
    this.end()
    this.#ports.proven()
  }

  /** Waits no longer, and calls nobody. Idempotent. */
  end(): void {
    this.#search?.abort()
    this.#search = undefined
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { ask, clock } = this.#ports
    while (ask !== undefined && !signal.aborted) {
      const answered = await ask(signal)
      if (signal.aborted) return
      if (answered) this.found()
      else await sleep(clock, ASK_AGAIN_MS, signal)
    }
  }
}
