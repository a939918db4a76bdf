import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import type { Model, ModelEvent, ModelRequest, ModelToolCall, Opaque, StopReason, Usage } from '../../core/model.ts'

/** A whole answer of the model. */
export interface ModelAnswer {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly stop: StopReason
  readonly usage: Usage
  readonly model: string
  readonly opaque?: Opaque | undefined
  /** The tokens that the model reads at once, where its server has named them. */
  readonly window?: number | undefined
}

interface Asking {
  readonly signal: AbortSignal
  /** Called whenever the text has grown, with all of it. */
  show(this: void, text: string): void
  /** Called when a call has ended before its answer, with what it counts as. */
  broken?(this: void, usage: Usage, failure: unknown): void
}

/** Makes one model call: shows its text as it grows and returns the whole. Throws what the model throws. */
export async function askModel(
  model: Model,
  asked: ModelRequest,
  { signal, show, broken }: Asking,
): Promise<ModelAnswer> {
  const received: Received = { text: '', calls: undefined, deltas: 0 }
  for await (const event of model.stream(asked, signal)) {
    if (event.type === 'broken') broken?.(event.usage, event.failure)
    const answer = receive(event, received, show)
    if (answer !== undefined) return answer
  }
  throw torn(model)
}

/** An answer as far as it has come. */
interface Received {
  text: string
  /** Undefined: none. Most answers ask for no tool. */
  calls: ModelToolCall[] | undefined
  deltas: number
}

const NO_CALLS: readonly ModelToolCall[] = []

/** Adds an event to what was received. Returns the whole answer with the last event. */
function receive(event: ModelEvent, received: Received, show: Asking['show']): ModelAnswer | undefined {
  switch (event.type) {
    case 'failed':
    case 'again':
    case 'broken':
      return undefined
    case 'retract':
      received.text = ''
      show('')
      return undefined
    case 'text':
      received.text += event.delta
      show(received.text)
      if (++received.deltas === 2) failpoint('CP5-mid-stream')
      return undefined
    case 'tool_call':
      received.calls ??= []
      received.calls.push(event.call)
      return undefined
    case 'end': {
      failpoint('CP6-model-answer-uncommitted')
      const { text, calls = NO_CALLS } = received
      const { stop, usage, model, opaque, window } = event
      return { text, calls, stop, usage, model, opaque, window }
    }
  }
}

function torn({ id }: Model): ParleyError {
  return new ParleyError('model_failed', `The stream of ${id} ended without an end.`)
}
