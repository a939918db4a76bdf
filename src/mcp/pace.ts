import type { Readable } from 'node:stream'
import { type Clock, sleep } from '../core/clock.ts'

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
  /** The longest line in bytes: `end` gives up at a longer one, `cut` drops the rest of it. */
  readonly most: number
  readonly long: 'end' | 'cut'
  /** Called with each line. Returns true for one that was asked for, which costs nothing. */
  take(line: string): boolean
}

/** Added to the length of each line, so that short ones are not the cheapest way to keep a process busy. */
const BESIDE = 100

/**
 * Reads a stream in lines until it ends; the last one need not end. Whoever writes more than it was asked for is read
 * slowly: the system then holds back its writing. Rejects for a line that is too long.
 */
export async function readPaced(stream: Readable, pacing: Pacing): Promise<void> {
  const lines = new Lines(pacing)
  const pace = new ReadingPace(pacing)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let unasked = 0
    for (const line of lines.push(chunk)) if (!pacing.take(line)) unasked += line.length + BESIDE
    await pace.spend(unasked)
  }
  const last = lines.rest()
  if (last !== '') pacing.take(last)
}

class Lines {
  readonly #pacing: Pick<Pacing, 'most' | 'long'>
  #parts: Buffer[] = []
  #size = 0

  constructor(pacing: Pick<Pacing, 'most' | 'long'>) {
    this.#pacing = pacing
  }

  /** Yields the lines that are whole with this chunk. */
  *push(chunk: Buffer): Generator<string, void, void> {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, end))
      from = end + 1
      yield this.rest()
    }
    this.#add(chunk.subarray(from))
  }

  /** Takes out what has come of a line. */
  rest(): string {
    const line = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#size = 0
    return line
  }

  #add(part: Buffer): void {
    const { most, long } = this.#pacing
    const kept = long === 'cut' ? part.subarray(0, Math.max(0, most - this.#size)) : part
    this.#size += kept.length
    if (this.#size > most) throw new Error(`a message is longer than ${most} bytes`)
    if (kept.length > 0) this.#parts.push(kept)
  }
}
