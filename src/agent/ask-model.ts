import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Model, ModelEvent, ModelRequest, ModelToolCall, StopReason, Usage } from '../core/model.ts'
import type { TurnRequest } from '../core/turn.ts'

/** A whole answer of the model. */
export interface Answer {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly stop: StopReason
  readonly usage: Usage
  readonly model: string
  readonly reasoning?: object | undefined
}

interface Asking {
  readonly signal: AbortSignal
  readonly request: Pick<TurnRequest, 'show'>
}

/**
 * Makes one model call: shows its text as it grows and returns the whole, at once if the model does. Throws what the model
 * throws.
 */
export function askModel(model: Model, asked: ModelRequest, { signal, request }: Asking): Promise<Answer> | Answer {
  const events = model.stream(asked, signal)
  const heard: Heard = { text: '', calls: NO_CALLS, deltas: 0 }
  if (Symbol.asyncIterator in events) return listen(events, model, { heard, request })
  for (const event of events) {
    const answer = hear(event, heard, request)
    if (answer !== undefined) return answer
  }
  throw torn(model)
}

/** An answer as far as it has come. */
interface Heard {
  text: string
  calls: readonly ModelToolCall[]
  deltas: number
}

/** Most answers ask for no tool. */
const NO_CALLS: readonly ModelToolCall[] = []

async function listen(
  events: AsyncIterable<ModelEvent>,
  model: Model,
  { heard, request }: Pick<Asking, 'request'> & { readonly heard: Heard },
): Promise<Answer> {
  for await (const event of events) {
    const answer = hear(event, heard, request)
    if (answer !== undefined) return answer
  }
  throw torn(model)
}

/** Takes in what came next; the whole answer once that was its end. */
function hear(event: ModelEvent, heard: Heard, { show }: Asking['request']): Answer | undefined {
  switch (event.type) {
    case 'text':
      heard.text += event.delta
      show(heard.text)
      if (++heard.deltas === 2) failpoint('CP5-mid-stream')
      return undefined
    case 'tool_call':
      heard.calls = [...heard.calls, event.call]
      return undefined
    case 'end': {
      failpoint('CP6-model-answer-uncommitted')
      const { text, calls } = heard
      const { stop, usage, model, reasoning } = event
      return { text, calls, stop, usage, model, reasoning }
    }
  }
}

function torn({ id }: Model): ParleyError {
  return new ParleyError('model_failed', `The stream of ${id} ended without an end.`)
}
