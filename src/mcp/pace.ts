import type { Readable } from 'node:stream'
import { type Clock, sleep } from '../core/clock.ts'
import { Bytes } from '../core/read-bytes.ts'

/** The rate at which something is read that nobody has asked for. */
export interface ReadingPaceDeps {
  readonly clock: Clock
  /** Ends each wait. */
  readonly signal: AbortSignal
  /** Bytes a second, and as many at once. */
  readonly rate: number
  /** Called when reading has to wait for the first time. */
  slowed(): void
}

/** Holds back the reading of what nobody has asked for: the system then holds back its writing. */
export class ReadingPace {
  readonly #deps: ReadingPaceDeps
  #left: number
  #at: number
  #isSlow = false

  constructor(deps: ReadingPaceDeps) {
    this.#deps = deps
    this.#left = deps.rate
    this.#at = deps.clock.elapsed()
  }

  /** Waits until so many bytes may be read. */
  async spend(bytes: number): Promise<void> {
    const { clock, rate, signal, slowed } = this.#deps
    const now = clock.elapsed()
    this.#left = Math.min(rate, this.#left + ((now - this.#at) / 1_000) * rate) - Math.max(0, bytes)
    this.#at = now
    if (this.#left >= 0) return
    if (!this.#isSlow) slowed()
    this.#isSlow = true
    await sleep(clock, (-this.#left / rate) * 1_000, signal)
  }
}

export interface Pacing extends ReadingPaceDeps {
  /** The longest line in bytes. */
  readonly most: number
  /**
   * Called with each line; of one that is too long with its beginning, at once, and the rest of it is dropped. Returns
   * true for one that was asked for, which costs nothing.
   */
  take(line: string, isCut: boolean): boolean
}

/** Added to the length of each line, so that short ones are not the cheapest way to keep a process busy. */
const BESIDE = 100
/** Bytes of the beginning of a line that is too long. */
const BEGINNING = 4_000
/** Bytes of the rest of such a line that cost as much as one byte that is read. */
const DROPPED = 32

/**
 * Reads a stream in lines until it ends; the last one need not end. Whoever writes more than it was asked for is read
 * slowly: the system then holds back its writing.
 */
export async function readPaced(stream: Readable, pacing: Pacing): Promise<void> {
  const lines = new Lines(pacing)
  const pace = new ReadingPace(pacing)
  for await (const chunk of stream as AsyncIterable<Buffer>) await pace.spend(lines.push(chunk))
  lines.end()
}

class Lines {
  readonly #pacing: Pick<Pacing, 'most' | 'take'>
  #held: Bytes
  /** The line is too long: the rest of it is dropped. */
  #isCut = false

  constructor(pacing: Pick<Pacing, 'most' | 'take'>) {
    this.#pacing = pacing
    this.#held = new Bytes(pacing.most)
  }

  /** Hands on the lines that are whole with this chunk. Returns the bytes that were not asked for. */
  push(chunk: Buffer): number {
    let unasked = 0
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      unasked += this.#add(chunk.subarray(from, end)) + this.#ended()
      from = end + 1
    }
    return unasked + this.#add(chunk.subarray(from))
  }

  /** Hands on the last line, if there is one. */
  end(): void {
    if (this.#held.length > 0) this.#ended()
  }

  #add(part: Buffer): number {
    if (this.#isCut) return part.length / DROPPED
    if (this.#held.add(part)) return 0
    const begun = this.#held.whole().subarray(0, BEGINNING).toString('utf8')
    this.#held = new Bytes(this.#pacing.most)
    this.#isCut = true
    return this.#take(begun)
  }

  #ended(): number {
    const isCut = this.#isCut
    this.#isCut = false
    if (isCut) return BESIDE
    const line = this.#held.whole().toString('utf8')
    this.#held = new Bytes(this.#pacing.most)
    return this.#take(line)
  }

  #take(line: string): number {
    return this.#pacing.take(line, this.#isCut) ? 0 : line.length + BESIDE
  }
}
