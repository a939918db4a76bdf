import type {
  Completion,
  CompletionChoice,
  CompletionError,
  CompletionUsage,
  FinishReason,
  ListedModel,
  ModelList,
} from '../../core/completion.ts'
import { count, either, list, nothing, object, oneOf, only, text } from './shape.ts'

const seconds = count.meta({ description: 'seconds since the epoch' }) as typeof count

const message = object<CompletionChoice['message']>({ role: only('assistant'), content: text, refusal: nothing })
const choice = object<CompletionChoice>({
  ...{ index: count, message, logprobs: nothing },
  finish_reason: oneOf<FinishReason>({ stop: true, length: true }),
})
const usage = object<CompletionUsage>({
  ...{ prompt_tokens: count, completion_tokens: count, total_tokens: count },
  prompt_tokens_details: object<CompletionUsage['prompt_tokens_details']>({ cached_tokens: count }),
})

export const completion = object<Completion>(
  { id: text, object: only('chat.completion'), created: seconds, model: text, choices: list(choice), usage },
  'Completion',
)

export const listedModel = object<ListedModel>(
  { id: text, object: only('model'), created: seconds, owned_by: text },
  'Model',
)
export const modelList = object<ModelList>({ object: only('list'), data: list(listedModel) })

export const completionError = object<CompletionError>(
  {
    error: object<CompletionError['error']>({
      ...{ message: text, type: text, code: either(text, nothing), param: either(text, nothing) },
    }),
  },
  'CompletionError',
)
