import { backOffMs } from '../../src/core/backoff.ts'
import { type Clock, sleep } from '../../src/core/clock.ts'

interface ProbePorts {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Returns whether the connection looks well. While it does not it is being mended, and nothing is asked. */
  looksWell(): boolean
  /**
   * Asks by another way than events come; true: the platform holds something that should have come. Rejects as it may.
   */
  probe(signal: AbortSignal): Promise<boolean>
  /** Called when the account is found deaf: the connection is to be begun anew. */
  deaf(): void
  /** Called when something came, or nothing more is held, after the account was found deaf. */
  receives(): void
}

/**
 * A slow pace: two findings and the silence before them stay within five minutes. A new connection that is deaf too is
 * looked at ever more slowly: some platforms count connections.
 */
const PACE = { firstMs: 90_000, longestMs: 720_000 }
/** FindingsBook in a row; one alone may be something that is just on its way. */
const FINDINGS = 2

/**
 * Asks every so often, one question at a time, whether an account that looks well is deaf, and says so when two answers
 * in a row show it and nothing came meanwhile. A question without an answer shows nothing, and where something came in
 * the meantime none is asked.
 */
export class DeafProbe {
  readonly #ports: ProbePorts
  #hasReceived = false
  #isDeaf = false
  /** Times the account was found deaf since something came. */
  #times = 0

  constructor(ports: ProbePorts) {
    this.#ports = ports
  }

  /** Called with each thing that comes by the connection itself; what was read back does not count. */
  received(): void {
    this.#hasReceived = true
    this.#times = 0
    this.#end()
  }

  /** Resolves when the signal aborts; never rejects. */
  async run(): Promise<void> {
    const { clock, signal, looksWell, deaf } = this.#ports
    for (let found = 0; !signal.aborted; ) {
      this.#hasReceived = false
      await sleep(clock, backOffMs(this.#times + 1, PACE), signal)
      const isHeld = !this.#hasReceived && !signal.aborted && looksWell() && (await this.#isHeld())
      found = isHeld && !this.#hasReceived ? found + 1 : 0
      if (found < FINDINGS || signal.aborted) continue
      found = 0
      this.#isDeaf = true
      this.#times++
      deaf()
    }
  }

  async #isHeld(): Promise<boolean> {
    const { probe, signal } = this.#ports
    const held = await probe(signal).catch(() => undefined)
    if (held === false) this.#end()
    return held === true
  }

  #end(): void {
    if (!this.#isDeaf) return
    this.#isDeaf = false
    this.#ports.receives()
  }
}
