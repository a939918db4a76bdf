import { createParser } from 'eventsource-parser'
import { ModelError } from './model-error.ts'
import { isRecord } from './tool-arguments.ts'

const MB = 1_000_000
/** The longest answers have 128,000 tokens, of which each comes as an event of about 300 bytes. */
const MOST_STREAMED = 64 * MB
const MOST_OF_AN_EVENT = 4 * MB

/** The events of one answer. */
export interface StreamReading {
  /** `[DONE]` has come: the server says that nothing follows. */
  inOrder: boolean
}

/**
 * Yields the objects of a stream of events, whatever the events are named; those without an object are left out,
 * such as the empty ones by which gateways keep a connection open. Throws `SyntaxError` for data that is no JSON,
 * `model_failed` for a flood.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, reading: StreamReading): AsyncGenerator<object> {
  const texts: string[] = []
  let flooded = false
  const parser = createParser({
    maxBufferSize: MOST_OF_AN_EVENT,
    onEvent: ({ data }) => void texts.push(data),
    onError: ({ type }) => {
      flooded ||= type === 'max-buffer-size-exceeded'
    },
  })
  const decoder = new TextDecoder()
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size <= MOST_STREAMED) parser.feed(decoder.decode(piece, { stream: true }))
    if (flooded || size > MOST_STREAMED) throw new ModelError('model_failed', TOO_MUCH, { advice: { retry: false } })
    yield* objectsIn(texts.splice(0), reading)
    if (reading.inOrder) return
  }
  // The last event may lack the empty line behind it.
  parser.feed(`${decoder.decode()}\n\n`)
  yield* objectsIn(texts, reading)
}

const TOO_MUCH = 'The server of the model sent more than any answer has.'

function* objectsIn(texts: readonly string[], reading: StreamReading): Generator<object> {
  for (const text of texts) {
    if (text.trim() === '') continue
    if (text.trim() === '[DONE]') {
      reading.inOrder = true
      return
    }
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) yield value
  }
}
