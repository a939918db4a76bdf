import { ModelError } from './model-error.ts'

const MB = 1_000_000
/** The longest answers have 128,000 tokens, of which each comes as an event of about 300 bytes. */
const MOST_STREAMED = 64 * MB
/** Client libraries look through an event from its beginning with each piece of it. */
const MOST_OF_AN_EVENT = 4 * MB
/** An answer that is no stream says why there is none. */
const MOST_SAID = MB
const BETWEEN_EVENTS = ['\n\n', '\r\n\r\n', '\r\r']
/** Bytes of a piece in which the end of an event may have begun. */
const BEGUN_END = 3

/**
 * Returns an answer whose body fails once it is longer than any of a model: client libraries read one to its end, and a
 * few MB that are compressed would fill the memory.
 */
export function boundedAnswer(response: Response): Response {
  const { ok, body, status, statusText, headers } = response
  if (body === null) return response
  const isStream = ok && headers.get('content-type')?.startsWith('text/event-stream') === true
  const bounds = isStream ? { most: MOST_STREAMED, event: MOST_OF_AN_EVENT } : { most: MOST_SAID, event: MOST_SAID }
  return new Response(body.pipeThrough(bounded(bounds)), { status, statusText, headers })
}

function bounded(bounds: { readonly most: number; readonly event: number }): TransformStream<Uint8Array, Uint8Array> {
  let [all, event] = [0, 0]
  let before: Uint8Array = new Uint8Array()
  return new TransformStream({
    transform(piece, controller) {
      const seen = Buffer.concat([before, piece])
      const end = Math.max(...BETWEEN_EVENTS.map((between) => seen.lastIndexOf(between)))
      before = seen.subarray(-BEGUN_END)
      all += piece.length
      event = end < 0 ? event + piece.length : seen.length - end
      if (all <= bounds.most && event <= bounds.event) controller.enqueue(piece)
      else controller.error(new ModelError('model_failed', TOO_LONG, { advice: { retry: false } }))
    },
  })
}

const TOO_LONG = 'The server of the model sent more than any answer has.'
