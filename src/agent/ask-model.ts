import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Model, ModelRequest, ModelToolCall, StopReason, Usage } from '../core/model.ts'
import type { TurnEvent } from '../core/turn.ts'

/** A whole answer of the model. */
export interface Answer {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly stop: StopReason
  readonly usage: Usage
  readonly model: string
  readonly reasoning?: object
}

/** Makes one model call: yields its text as deltas and returns the whole. Throws what the model throws. */
export async function* askModel(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, Answer, void> {
  const calls: ModelToolCall[] = []
  let text = ''
  let deltas = 0
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text':
        text += event.delta
        yield { type: 'delta', text: event.delta }
        if (++deltas === 2) failpoint('CP5-mid-stream')
        break
      case 'tool_call':
        calls.push(event.call)
        break
      case 'end':
        failpoint('CP6-model-answer-uncommitted')
        return {
          ...{ text, calls, stop: event.stop, usage: event.usage, model: event.model },
          ...(event.reasoning === undefined ? {} : { reasoning: event.reasoning }),
        }
    }
  }
  throw new ParleyError('model_failed', `The stream of ${model.id} ended without an end.`)
}
