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
/** Bytes that are parsed at once: the parser's work grows faster than a piece. */
const PIECE = 4_096

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
  const reader = body.getReader()
  try {
    for (let size = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.length
      if (size > MOST_STREAMED) throw tooMuch()
      for (const object of objectsIn(events.take(value), reading)) yield object
      if (reading.inOrder) return
    }
    for (const object of objectsIn(events.end(), reading)) yield object
  } finally {
    void (reading.inOrder ? readRest(reader) : reader.cancel()).catch(() => {})
  }
}

/** Returns what makes of each piece of a stream the data of the events that are whole with it. */
function startEvents(): { take(bytes: Uint8Array): readonly string[]; end(): readonly string[] } {
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
    take(bytes) {
      for (const piece of pieces(bytes, PIECE)) parser.feed(decoder.decode(piece, { stream: true }))
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
