import { setImmediate as nextTurn } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { DOORS } from '../../core/doors.ts'
import { errorCode } from '../../core/errors.ts'
import { pieces } from '../../core/read-bytes.ts'
import { readJson } from '../../core/read-json.ts'
import { ModelError } from './model-error.ts'
import { isRecord } from './tool-arguments.ts'

const MB = 1_000_000
/** The longest answers have 128,000 tokens, of which each comes as an event of about 300 bytes. */
const MOST_STREAMED = 64 * MB
/** Each of those events has two or three lines, and a line end may be of two characters. */
const MOST_LINES = 1_000_000
/** Lines behind which there has to be an event that says something: an event of the most values fits, in lines. */
const MOST_EMPTY_LINES = 100_000
/** Bytes that are parsed at once: the parser's work grows faster than a piece. */
const PIECE = 4_096
/** Bytes behind which everything else has its turn: they may have come at once, and be thousands of events. */
const BYTES_A_TURN = 4 * PIECE

/** The events of one answer. */
export interface StreamReading {
  /** The server has said that nothing follows: by `[DONE]`, or by an event that the caller knows. */
  inOrder: boolean
}

/**
 * Yields the objects of a stream of events, whatever the events are named; those without an object are left out,
 * such as the empty ones by which gateways keep a connection open. Throws `SyntaxError` for data that is no JSON,
 * `model_failed` for a flood.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, reading: StreamReading): AsyncGenerator<object> {
  const events = startEvents()
  const bounds = new StreamBounds()
  const reader = body.getReader()
  try {
    for await (const piece of inTurns(reader)) {
      bounds.add(piece)
      for (const object of objectsIn(events.take(piece), reading)) {
        bounds.said(object)
        yield object
      }
      if (reading.inOrder) return
    }
    for (const object of objectsIn(events.end(), reading)) yield object
  } finally {
    void (reading.inOrder ? readRest(reader) : reader.cancel()).catch(() => {})
  }
}

/** Yields the bytes of a stream in small pieces, between which everything else has its turn. */
async function* inTurns(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for (let since = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return
    for (const piece of pieces(value, PIECE)) {
      yield piece
      since += piece.length
      if (since < BYTES_A_TURN) continue
      since = 0
      await nextTurn()
    }
  }
}

/** Counts what comes of a stream. Throws `model_failed` for more than any answer has. */
class StreamBounds {
  #bytes = 0
  #lines = 0
  #emptyLines = 0

  add(piece: Uint8Array): void {
    this.#bytes += piece.length
    let lines = 0
    for (const byte of piece) if (byte === LF || byte === CR) lines++
    this.#lines += lines
    this.#emptyLines += lines
    if (this.#bytes > MOST_STREAMED || this.#lines > MOST_LINES || this.#emptyLines > MOST_EMPTY_LINES) throw tooMuch()
  }

  said(object: object): void {
    if (Object.keys(object).length > 0) this.#emptyLines = 0
  }
}

const [LF, CR] = [0x0a, 0x0d]

/** Returns what makes of each piece of a stream the data of the events that are whole with it. */
function startEvents(): { take(piece: Uint8Array): readonly string[]; end(): readonly string[] } {
  const texts: string[] = []
  const decoder = new TextDecoder()
  const parser = createParser({
    maxBufferSize: DOORS.modelEvent.bytes,
    onEvent: ({ data }) => void texts.push(data),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooMuch()
    },
  })
  return {
    take(piece) {
      parser.feed(decoder.decode(piece, { stream: true }))
      return texts.splice(0)
    },
    end() {
      // The last event may lack the empty line behind it.
      parser.feed(`${decoder.decode()}\n\n`)
      return texts
    },
  }
}

/** Pieces that are read behind the end; a server may keep the connection open and send empty events for ever. */
const MOST_BEHIND = 16

/** Reads what follows the end: a connection that is read to its end serves the next call. */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let pieces = 0; pieces < MOST_BEHIND; pieces++) if ((await reader.read()).done) return
  await reader.cancel()
}

function tooMuch(): ModelError {
  const message = 'The server of the model sent more than any answer has.'
  return new ModelError('model_failed', message, { advice: { retry: false } })
}

function* objectsIn(texts: readonly string[], reading: StreamReading): Generator<object> {
  for (const text of texts) {
    if (text.trim() === '') continue
    if (text.trim() === '[DONE]') {
      reading.inOrder = true
      return
    }
    const value = objectIn(text)
    if (isRecord(value)) yield value
  }
}

function objectIn(text: string): unknown {
  try {
    return readJson(text, DOORS.modelEvent)
  } catch (error) {
    throw errorCode(error) === 'too_long' ? tooMuch() : new SyntaxError('An event is no JSON.', { cause: error })
  }
}
