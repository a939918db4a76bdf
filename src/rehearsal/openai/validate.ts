import { emptyArray, invalid, listed, missing, wrongType, wrongValue } from './api-error.ts'
import { checkContent } from './content.ts'
import { type ChatRequest, isObject, type RequestMessage } from './request.ts'
import { checkCalls, checkToolPairs, checkTools } from './tools.ts'

/** The models that think; they take another limit, and an effort. */
const REASONING = /^(o\d|gpt-[5-9])/

/**
 * Checks a parsed body as the Chat Completions API does and returns it typed. The rules of OpenAI's own models and for
 * unknown fields hold for its servers alone (`own`).
 * @throws ChatError 400 invalid_request_error with the wording of the API
 */
export function validateRequest(body: unknown, own = true): ChatRequest {
  if (!isObject(body)) throw invalid('We could not parse the JSON body of your request.')
  for (const field of Object.keys(body)) {
    if (own && !fields.has(field)) throw invalid(`Unrecognized request argument supplied: ${field}`)
  }
  if (body.model === undefined || body.model === '') throw invalid('you must provide a model parameter')
  if (typeof body.model !== 'string') throw wrongType('model', 'a string', body.model)
  const messages = checkMessages(body.messages, own)
  checkToolPairs(messages)
  checkTools(body.tools, body.tool_choice)
  checkStream(body)
  for (const field of ['max_tokens', 'max_completion_tokens']) checkLimit(body[field], field)
  if (own) checkOwnModels(body, body.model)
  return body as ChatRequest
}

function checkOwnModels(body: Record<string, unknown>, model: string): void {
  checkLimits(body, model)
  checkEffort(body.reasoning_effort, model)
  checkToolsOfThinkers(body, model)
}

const fields = new Set(
  (
    'model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens ' +
    'metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention ' +
    'reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature ' +
    'tool_choice tools top_logprobs top_p user verbosity web_search_options'
  ).split(' '),
)

function checkMessages(messages: unknown, own: boolean): RequestMessage[] {
  if (messages === undefined) throw missing('messages')
  if (!Array.isArray(messages)) throw wrongType('messages', 'an array of objects', messages)
  if (messages.length === 0) throw emptyArray('messages')
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`, own)
  return messages
}

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer']

function checkMessage(message: unknown, at: string, own: boolean): void {
  if (!isObject(message)) throw wrongType(at, 'an object', message)
  const { role, content } = message
  if (role === undefined) throw missing(`${at}.role`)
  if (typeof role !== 'string' || !roles.includes(role)) throw wrongValue(`${at}.role`, role, roles)
  if (role === 'tool') checkAnswered(message, at)
  if (role === 'assistant' && message.tool_calls !== undefined) {
    checkCalls(message.tool_calls, at, own)
    if (content === undefined || content === null) return
  }
  if (content === undefined) throw missing(`${at}.content`)
  const parts: unknown = own || role !== 'assistant' ? content : withoutThoughts(content)
  if (Array.isArray(parts) && parts.length === 0 && message.tool_calls !== undefined) return
  checkContent(parts, role, at)
}

/** Mistral takes its own thoughts back as parts of the content of an assistant message. */
function withoutThoughts(content: unknown): unknown {
  const isThought = (part: unknown): boolean =>
    isObject(part) && part.type === 'thinking' && Array.isArray(part.thinking)
  return Array.isArray(content) ? content.filter((part) => !isThought(part)) : content
}

function checkAnswered({ tool_call_id: id }: Record<string, unknown>, at: string): void {
  if (id === undefined) {
    throw invalid(
      "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      `${at.replace('[', '.[')}.tool_call_id`,
    )
  }
  if (typeof id !== 'string') throw wrongType(`${at}.tool_call_id`, 'a string', id)
}

function checkLimits(body: Record<string, unknown>, model: string): void {
  if (body.max_tokens === undefined) return
  if (REASONING.test(model)) {
    throw invalid(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  }
  if (body.max_completion_tokens !== undefined) {
    throw invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", 'max_tokens')
  }
}

function checkLimit(value: unknown, field: string): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(field, 'an integer', value)
  if (value >= 1) return
  throw invalid(
    `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`,
    field,
    'integer_below_min_value',
  )
}

/** The efforts by the beginning of the model's name; the first that fits counts. */
const efforts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^o\d/, ['low', 'medium', 'high']],
  [/^gpt-5\.1/, ['none', 'low', 'medium', 'high']],
  [/^gpt-(5\.\d|[6-9])/, ['none', 'low', 'medium', 'high', 'xhigh']],
  [/^gpt-5/, ['minimal', 'low', 'medium', 'high']],
]
const everyEffort = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']

function checkEffort(effort: unknown, model: string): void {
  if (effort === undefined) return
  const known = efforts.find(([name]) => name.test(model))?.[1]
  if (known === undefined) throw invalid('Unrecognized request argument supplied: reasoning_effort')
  if (!everyEffort.includes(String(effort))) throw wrongValue('reasoning_effort', effort, everyEffort)
  if (known.includes(String(effort))) return
  throw invalid(
    `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${listed(known)}.`,
    'reasoning_effort',
    'unsupported_value',
  )
}

/** The newest models think by themselves, those before them when the request says so; with tools neither may. */
function checkToolsOfThinkers({ tools, reasoning_effort: effort }: Record<string, unknown>, model: string): void {
  const always = /^gpt-(5\.([5-9]|\d\d)|[6-9])/.test(model)
  const asked = effort !== undefined && /^gpt-5\.[2-4]/.test(model)
  if (tools === undefined || effort === 'none' || !(always || asked)) return
  throw invalid(
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
    'reasoning_effort',
  )
}

function checkStream({ stream, stream_options: options }: Record<string, unknown>): void {
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw wrongType('stream', 'a boolean', stream)
  if (options === undefined || options === null) return
  if (stream !== true) {
    throw invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  }
  if (!isObject(options)) throw wrongType('stream_options', 'an object', options)
}
