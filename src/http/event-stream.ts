import type { ServerResponse } from 'node:http'
import { contractName } from '../core/event-names.ts'
import type { Followed, LiveEvent, LiveText, StreamEnd, StreamReader } from '../core/operate-events.ts'
import { placeOf } from '../core/stream-place.ts'

export interface StreamShape {
  /** The events name their session. */
  readonly all: boolean
  /** The events have the names of the contract, as the event names of the stream too. */
  readonly named: boolean
}

/** Bytes that wait for a reader; one that has more is cut off, and resumes where it was (F-D03). */
export const MOST_WAITING = 256 * 1024
/** Fewer than this, and there is room for more of the backlog. */
const ROOMY = 64 * 1024
/** Whoever has stopped reading is not waited for. */
const LEAVES_WITHIN_MS = 2_000
const RETRY_MS = 2_000
const RETRY_AFTER_STOP_MS = 1_000

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would hold the events back.
  'x-accel-buffering': 'no',
} as const

const BEAT = Buffer.from(':\n\n')
/** Every reader of an event is written the same bytes: 1,000 readers hold them once (`npm run bench -- streams`). */
const frames = new WeakMap<LiveEvent | LiveText, Map<string, Buffer>>()

/**
 * Answers with a stream of events, in the words of the browsers' `EventSource`. Events of a log have no event name, so
 * that `onmessage` is given all of them, unless their names were asked for; `start`, `delta`, `deleted` and `end` are
 * named and stand in no log.
 */
export class EventStream implements StreamReader {
  readonly #response: ServerResponse
  readonly #shape: StreamShape
  #over = false
  /** Frames that wait for the connection: a queue of its own would cost more for each than most of them are long. */
  readonly #held: Buffer[] = []
  #heldBytes = 0

  constructor(response: ServerResponse, shape: StreamShape) {
    this.#response = response
    this.#shape = shape
  }

  /** Sends the headers and the beginning. `headers` are those of the answer, with what others have added. */
  open(headers: Headers, { session, after, place }: Followed): void {
    const response = this.#response
    // Whole frames and no lengths between them: the body ends with the connection.
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { ...Object.fromEntries(headers), connection: 'close' })
    // It may be silent for as long as nothing happens.
    response.socket?.setTimeout(0)
    const id = place === undefined ? '' : `id: ${place}\n`
    const data = session === undefined ? {} : { session, after }
    response.write(`retry: ${RETRY_MS}\nevent: start\n${id}data: ${JSON.stringify(data)}\n\n`)
  }

  event(live: LiveEvent): void {
    this.#write(frameOf(live, `${this.#shape.all} ${this.#shape.named}`, () => eventFrame(live, this.#shape)))
  }

  text(text: LiveText): boolean {
    if (!this.roomy()) return false
    this.#write(frameOf(text, '', () => `event: delta\ndata: ${JSON.stringify(text)}\n\n`))
    return true
  }

  deleted(session: string): void {
    this.#write(Buffer.from(`event: deleted\ndata: ${JSON.stringify({ session })}\n\n`))
  }

  beat(): void {
    this.#write(BEAT)
  }

  end(end: StreamEnd): void {
    if (this.#over) return
    // Whoever does not read would not read the end either, and nothing waits for them.
    if (!this.roomy()) {
      this.cut()
      return
    }
    this.#over = true
    for (const frame of this.#held.splice(0)) this.#response.write(frame)
    const retry = end.reason === 'stopping' ? `retry: ${RETRY_AFTER_STOP_MS}\n` : ''
    this.#response.end(`${retry}event: end\ndata: ${JSON.stringify(end)}\n\n`)
    this.#response.socket?.setTimeout(LEAVES_WITHIN_MS, () => this.#response.destroy())
  }

  cut(): void {
    this.#over = true
    this.#held.length = 0
    this.#response.destroy()
  }

  roomy(): boolean {
    return this.#waiting < ROOMY
  }

  ready(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#response.off('drain', done)
        this.#response.off('close', done)
        resolve()
      }
      if (this.roomy() || this.#response.destroyed) return resolve()
      this.#response.on('drain', done)
      this.#response.on('close', done)
    })
  }

  #write(frame: Buffer): void {
    if (this.#over) return
    if (this.#waiting > MOST_WAITING) this.cut()
    else if (this.#held.length === 0 && !this.#response.writableNeedDrain) this.#response.write(frame)
    else this.#hold(frame)
  }

  get #waiting(): number {
    return this.#response.writableLength + this.#heldBytes
  }

  #hold(frame: Buffer): void {
    if (this.#held.length === 0) this.#response.once('drain', this.#flush)
    this.#held.push(frame)
    this.#heldBytes += frame.length
  }

  readonly #flush = (): void => {
    let count = 0
    for (const frame of this.#over ? [] : this.#held) {
      if (this.#response.writableNeedDrain) break
      this.#response.write(frame)
      this.#heldBytes -= frame.length
      count++
    }
    this.#held.splice(0, count)
    if (this.#held.length > 0 && !this.#over) this.#response.once('drain', this.#flush)
  }
}

function frameOf(source: LiveEvent | LiveText, key: string, make: () => string): Buffer {
  let made = frames.get(source)
  if (made === undefined) {
    made = new Map()
    frames.set(source, made)
  }
  const known = made.get(key)
  if (known !== undefined) return known
  const frame = Buffer.from(make())
  made.set(key, frame)
  return frame
}

/** The id is the whole place: a number alone could be that of another event once a copy was put back. */
function eventFrame({ session, event }: LiveEvent, { all, named }: StreamShape): string {
  const type = named ? contractName(event.type) : event.type
  const data = JSON.stringify({ ...(all ? { session } : {}), ...event, type })
  return `${named ? `event: ${type}\n` : ''}id: ${placeOf(session, event)}\ndata: ${data}\n\n`
}
