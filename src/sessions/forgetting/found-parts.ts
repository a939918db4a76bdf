import type { EventParts } from '../../core/forgetting.ts'
import type { MediaId } from '../../core/ids.ts'

/** Remembers what goes of events that hold what several people have sent. */
export class FoundParts {
  /** The files that go with them. */
  readonly media = new Set<MediaId>()
  readonly #places = new Map<number, Set<number>>()
  readonly #quotes = new Map<number, Set<number>>()

  go(seq: number, place: number, media?: MediaId): void {
    note(this.#places, seq, place)
    if (media !== undefined) this.media.add(media)
  }

  loseQuote(seq: number, place: number): void {
    note(this.#quotes, seq, place)
  }

  /** Returns the parts of events that do not go as a whole. */
  beside(whole: ReadonlySet<number>): readonly EventParts[] {
    const seqs = new Set([...this.#places.keys(), ...this.#quotes.keys()])
    return [...seqs].flatMap((seq) => {
      if (whole.has(seq)) return []
      const quotes = [...(this.#quotes.get(seq) ?? [])]
      return [{ seq, places: [...(this.#places.get(seq) ?? [])], ...(quotes.length > 0 ? { quotes } : {}) }]
    })
  }
}

function note(of: Map<number, Set<number>>, seq: number, place: number): void {
  const known = of.get(seq) ?? new Set()
  of.set(seq, known.add(place))
}
