/** How long nothing was heard before a connection stood again. Times in ms. */
export class Silence {
  readonly #now: () => number
  #heardAt: number
  /** When something was heard for the last time before the connection broke. */
  #since: number | undefined

  constructor(now: () => number) {
    this.#now = now
    this.#heardAt = now()
  }

  heard(): void {
    this.#heardAt = this.#now()
  }

  /** The connection broke; further breaks before the next connection are the same silence. */
  begins(): void {
    this.#since ??= this.#heardAt
  }

  /** A connection stands; 0 if none had broken. */
  ends(): number {
    const since = this.#since
    this.#since = undefined
    return since === undefined ? 0 : this.#now() - since
  }
}
