import type { Clock } from '../../core/clock.ts'
import { visibleWhileStreaming } from '../../core/silence.ts'

/** The shortest time between two looks at one answer: looking at each delta would cost more than it shows. */
const EVERY_MS = 40

/**
 * An answer as somebody reads it who cannot take anything back: free of markers, and only ever longer (S31, S48). What
 * the model said along with calls of tools stays above what it says afterwards.
 */
export class GrowingAnswer {
  readonly #clock: Clock
  readonly #grew: (text: string) => void
  #raw = ''
  /** All steps before the present one. */
  #above = ''
  #step = ''
  #nextAt = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, grew: (text: string) => void) {
    this.#clock = clock
    this.#grew = grew
  }

  /** Takes the whole raw text so far of the step. Cheap; never throws. */
  readonly push = (raw: string): void => {
    // A new call of the model begins afresh, and may come before the end of the last one was looked at.
    if (raw.length < this.#raw.length) this.#look()
    this.#raw = raw
    if (this.#cancel !== undefined) return
    const wait = this.#nextAt - this.#clock.elapsed()
    if (wait <= 0) this.#look()
    else this.#cancel = this.#clock.after(wait, () => this.#look())
  }

  /** Takes the answer as it was stored, after which nothing follows. */
  end(answer: string): void {
    this.#look()
    this.#add(answer)
  }

  /** Ends it without an answer. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #look(): void {
    this.close()
    this.#nextAt = this.#clock.elapsed() + EVERY_MS
    // Neither white space that a marker may take away nor half a character.
    this.#add(visibleWhileStreaming(this.#raw).replace(/[\uD800-\uDBFF]$/, ''))
  }

  #add(text: string): void {
    const shown = text.trim()
    if (this.#step.startsWith(shown)) return
    if (!shown.startsWith(this.#step)) this.#above += `${this.#step}\n\n`
    this.#step = shown
    this.#grew(this.#above + shown)
  }
}
