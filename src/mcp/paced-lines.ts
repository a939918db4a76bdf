import type { Readable } from 'node:stream'
import { type Clock, sleep } from '../core/clock.ts'

export interface Pacing {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The longest line in bytes: `end` gives up at a longer one, `cut` drops the rest of it. */
  readonly most: number
  readonly long: 'end' | 'cut'
  /** Bytes a second of what nobody asked for, and as many at once. */
  readonly rate: number
  /** Called with each line. Returns true for one that was asked for, which costs nothing. */
  take(line: string): boolean
  /** Called when reading has to wait for the first time. */
  slowed(): void
}

/** Added to the length of each line, so that short ones are not the cheapest way to keep a process busy. */
const BESIDE = 100

/**
 * Reads a stream in lines until it ends; the last one need not end. Whoever writes more than it was asked for is read
 * slowly: the system then holds back its writing. Rejects for a line that is too long.
 */
export async function readPaced(stream: Readable, pacing: Pacing): Promise<void> {
  const { clock, signal, rate } = pacing
  const lines = new Lines(pacing)
  let left = rate
  let at = clock.elapsed()
  let slow = false
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const now = clock.elapsed()
    left = Math.min(rate, left + ((now - at) / 1_000) * rate)
    at = now
    for (const line of lines.push(chunk)) if (!pacing.take(line)) left -= line.length + BESIDE
    if (left >= 0) continue
    if (!slow) pacing.slowed()
    slow = true
    await sleep(clock, (-left / rate) * 1_000, signal)
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
