/** How long nothing was heard before receipt was proven again. Times in ms. */
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

  /** The connection broke; connections that are lost again before they prove receipt are in the same silence. */
  begins(): void {
    this.#since ??= this.#heardAt
  }

  /** Receipt is proven; 0 if no connection had broken. */
  ends(): number {
    const since = this.#since
    this.#since = undefined
    return since === undefined ? 0 : this.#now() - since
  }
}
