import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Model, ModelRequest, ModelToolCall, StopReason, Usage } from '../core/model.ts'
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

/** Makes one model call: shows its text as it grows and returns the whole. Throws what the model throws. */
export async function askModel(model: Model, asked: ModelRequest, { signal, request }: Asking): Promise<Answer> {
  let calls = NO_CALLS
  let text = ''
  let deltas = 0
  for await (const event of model.stream(asked, signal)) {
    switch (event.type) {
      case 'text':
        text += event.delta
        request.show(text)
        if (++deltas === 2) failpoint('CP5-mid-stream')
        break
      case 'tool_call':
        calls = [...calls, event.call]
        break
      case 'end':
        failpoint('CP6-model-answer-uncommitted')
        return { text, calls, stop: event.stop, usage: event.usage, model: event.model, reasoning: event.reasoning }
    }
  }
  throw new ParleyError('model_failed', `The stream of ${model.id} ended without an end.`)
}

/** Most answers ask for no tool. */
const NO_CALLS: readonly ModelToolCall[] = []
