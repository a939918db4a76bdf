import { type Clock, type Moment, momentOf, passedSince } from '../../../src/core/clock.ts'

/**
 * Measures the silence before receipt was proven again. A machine that slept received nothing, so both clocks are
 * asked; a clock that was set ahead costs one reading back.
 */
export class ReceiptGap {
  readonly #clock: Clock
  #receivedAt: Moment
  /** When something arrived for the last time before the connection broke. */
  #since: Moment | undefined
  #wasDeaf = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#receivedAt = momentOf(clock)
  }

  received(): void {
    this.#receivedAt = momentOf(this.#clock)
  }

  /** The connection broke; connections that are lost again before they prove receipt are in the same silence. */
  begins(): void {
    this.#since ??= this.#receivedAt
  }

  /** Called when the connection only seemed alive, for an unknown time. */
  wasDeaf(): void {
    this.#wasDeaf = true
  }

  /** Receipt is proven. Returns ms; 0 if no connection had broken. */
  ends(): number {
    const [since, wasDeaf] = [this.#since, this.#wasDeaf]
    this.#since = undefined
    this.#wasDeaf = false
    if (wasDeaf) return Number.POSITIVE_INFINITY
    return since === undefined ? 0 : passedSince(this.#clock, since)
  }
}
