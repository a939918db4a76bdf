import { createParser } from 'eventsource-parser'
import { ModelError } from './model-error.ts'
import { isRecord } from './tool-arguments.ts'

const MB = 1_000_000
/** The longest answers have 128,000 tokens, of which each comes as an event of about 300 bytes. */
const MOST_STREAMED = 64 * MB
const MOST_OF_AN_EVENT = 4 * MB

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
  const reader = body.getReader()
  try {
    for (let size = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.length
      if (size <= MOST_STREAMED) parser.feed(decoder.decode(value, { stream: true }))
      if (flooded || size > MOST_STREAMED) throw new ModelError('model_failed', TOO_MUCH, { advice: { retry: false } })
      for (const object of objectsIn(texts.splice(0), reading)) yield object
      if (reading.inOrder) return
    }
    // The last event may lack the empty line behind it.
    parser.feed(`${decoder.decode()}\n\n`)
    for (const object of objectsIn(texts, reading)) yield object
  } finally {
    void (reading.inOrder ? readRest(reader) : reader.cancel()).catch(() => {})
  }
}

/** Pieces that are read behind the end; a server may keep the connection open and send empty events for ever. */
const MOST_BEHIND = 16

/** Reads what follows the end: a connection that is read to its end serves the next call. */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let pieces = 0; pieces < MOST_BEHIND; pieces++) if ((await reader.read()).done) return
  await reader.cancel()
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
