/** The conversations whose audience is remembered; of more, the oldest is forgotten. */
const MOST = 100

/**
 * Remembers the words and tokens that were named to whoever asked for a session to be moved or forked. A yes means
 * these, so that others which came since are named first. It is kept in memory: a yes before which nobody has asked
 * since the start is taken for all that there is.
 */
export class NamedAudiences {
  readonly #named = new Map<string, ReadonlySet<string>>()

  /** Remembers what was named of the relocation `key`. */
  name(key: string, names: readonly string[]): void {
    this.#named.delete(key)
    this.#named.set(key, new Set(names))
    const [oldest] = this.#named.keys()
    if (this.#named.size > MOST && oldest !== undefined) this.#named.delete(oldest)
  }

  /** Returns those of `names` that were not named; none where nothing was asked. */
  unnamed(key: string, names: readonly string[]): readonly string[] {
    const named = this.#named.get(key)
    return named === undefined ? [] : names.filter((name) => !named.has(name))
  }

  /** Forgets what was named, for it was done. */
  done(key: string): void {
    this.#named.delete(key)
  }
}
