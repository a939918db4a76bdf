import { isDeepStrictEqual } from 'node:util'
import { geminiSchema, kimiSchema, llamaCppSchema, type SchemaRule } from '../schema-rules.ts'
import { bad, extraForbidden, fromUpstream, jinja, litellm, type Refused, template } from './refused.ts'
import { type ChatRequest, isObject, type RequestMessage } from './request.ts'
import { joined, runningFrom, type SentStep, type SentSteps } from './sent-steps.ts'

/** Returns why a server refuses a request; undefined if it does not. */
export type Check = (request: ChatRequest, sent: SentSteps) => Refused | undefined

function firstOf(
  { messages }: ChatRequest,
  refuse: (message: RequestMessage, index: number) => Refused | undefined,
): Refused | undefined {
  for (const [index, message] of messages.entries()) {
    const refused = refuse(message, index)
    if (refused !== undefined) return refused
  }
  return undefined
}

const hasCalls = ({ tool_calls: calls = [] }: RequestMessage): boolean => calls.length > 0

/** Stricter than the servers: thoughts that were changed or are another step's are refused as well. */
const CHANGED = 'rehearsal: these are not the thoughts that were sent with this step, at message index'

/**
 * Thoughts come back in `reasoning_content`. `demanded` says for which messages the field must be there; a step of the
 * running turn has the very words, an older one or another model's may have none.
 */
function thoughtsBack(
  demanded: (request: ChatRequest, index: number) => boolean,
  missing: (index: number) => string,
): Check {
  return (request, sent) => {
    const running = runningFrom(request.messages)
    return firstOf(request, (message, index) => {
      if (message.role !== 'assistant') return undefined
      if (typeof message.reasoning_content !== 'string') {
        return demanded(request, index) ? bad(missing(index)) : undefined
      }
      const steps = sent.matching(message, request.model)
      return isAsSent(message, steps, index < running) ? undefined : bad(`${CHANGED} ${index}`)
    })
  }
}

function isAsSent(message: RequestMessage, steps: readonly SentStep[], old: boolean): boolean {
  const { reasoning_content: thoughts } = message
  if (!hasCalls(message) || steps.some((step) => step.thoughts === thoughts)) return true
  return (old || steps.length === 0) && !/\w/.test(String(thoughts))
}

/** DeepSeek wants the field in every message of a turn in which a tool was called, for good. */
export const deepseekThoughts = thoughtsBack(
  ({ messages }, index) => {
    const begin = messages.slice(0, index).findLastIndex(({ role }) => role === 'user')
    const end = messages.findIndex(({ role }, at) => role === 'user' && at > index)
    return messages.slice(begin + 1, end < 0 ? undefined : end).some(hasCalls)
  },
  () => 'The `reasoning_content` in the thinking mode must be passed back to the API.',
)

/** Kimi wants it in every message with calls. */
export const kimiThoughts = thoughtsBack(
  ({ messages }, index) => messages[index] !== undefined && hasCalls(messages[index]),
  (index) => `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
)

/** The values that Google documents for calls that another model has made. */
const DUMMIES = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

/** Gemini wants the signature on the first call of each step of the running turn, and never a false one. */
export const geminiSignatures: Check = (request, sent) => {
  const running = runningFrom(request.messages)
  return firstOf(request, (message, index) => {
    const [first] = message.tool_calls ?? []
    if (first === undefined) return undefined
    const signature = signatureOf(first)
    if (signature === undefined) return index < running ? undefined : unsigned(first.function.name, index)
    const ours = sent.matching(message, request.model).some((step) => step.signature === signature)
    return ours || DUMMIES.includes(String(signature)) ? undefined : bad('Corrupted thought signature.')
  })
}

function signatureOf(call: object): unknown {
  const extra = 'extra_content' in call && isObject(call.extra_content) ? call.extra_content : {}
  return isObject(extra.google) ? extra.google.thought_signature : undefined
}

function unsigned(name: string, index: number): Refused {
  return bad(
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  )
}

/** A gateway wants the field in which it sent thoughts back as it was, for the steps of the running turn. */
function fieldBack(field: string, missing: (name: string, index: number) => Refused): Check {
  return (request, sent) => {
    const running = runningFrom(request.messages)
    return firstOf(request, (message, index) => {
      const wanted = sent
        .matching(message, request.model)
        .map(({ fields }) => fields[field])
        .filter((value) => value !== undefined)
      const given = joined(message[field])
      if (given !== undefined) {
        return wanted.some((value) => isDeepStrictEqual(given, value)) ? undefined : missing('', index)
      }
      const name = message.tool_calls?.[0]?.function.name ?? ''
      return index >= running && wanted.length > 0 ? missing(name, index) : undefined
    })
  }
}

export const openrouterDetails = fieldBack('reasoning_details', (name, index) => {
  const { message } = name === '' ? bad('Corrupted thought signature.') : unsigned(name, index)
  const upstream = JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, null, 2)
  const kept =
    'Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks.'
  return fromUpstream(name === '' ? upstream : `${kept} Upstream error: ${upstream}`, 'Google AI Studio')
})

export const litellmBlocks = fieldBack('thinking_blocks', (name, index) => {
  const message =
    name === ''
      ? `messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`
      : `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`
  return litellm(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
})

/** Mistral's own order: nobody speaks right behind a tool, and the last word is a user's or a tool's. */
export const mistralOrder: Check = ({ messages }) => {
  const behind = messages.findIndex(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
  const order = { type: 'invalid_request_message_order', code: '3230' }
  if (behind >= 0) return bad("Unexpected role 'user' after role 'tool'", order)
  if (messages.at(-1)?.role !== 'assistant') return undefined
  return bad('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant', order)
}

export const mistralIds: Check = (request) =>
  firstOf(request, ({ tool_calls: calls = [], tool_call_id: answered }) => {
    const ids = [...calls.map(({ id }) => id), ...(answered === undefined ? [] : [answered])]
    const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id))
    if (wrong === undefined) return undefined
    const said = `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`
    return bad(said, { type: 'invalid_function_call', code: '3280' })
  })

/** The fields that are known in messages and their calls, where a server knows no others. */
const MESSAGE = ['role', 'content', 'name', 'tool_calls', 'tool_call_id']
const CALL = ['id', 'type', 'function', 'index']

function unknownFields({ messages }: ChatRequest, known: readonly string[]) {
  return messages.flatMap((message, index) => [
    ...unknownIn(message, known).map((field) => ({ index, role: message.role, path: [field] as (string | number)[] })),
    ...(message.tool_calls ?? []).flatMap((call, nth) =>
      unknownIn(call, CALL).map((field) => ({ index, role: message.role, path: ['tool_calls', nth, field] })),
    ),
  ])
}

function unknownIn(value: object, known: readonly string[]): string[] {
  return Object.keys(value).filter((field) => !known.includes(field))
}

export const mistralFields: Check = (request) => {
  const places = unknownFields(request, [...MESSAGE, 'prefix'])
  if (places.length === 0) return undefined
  return extraForbidden(places.map(({ index, role, path }) => ({ loc: ['messages', index, role, ...path], input: '' })))
}

export const groqFields: Check = (request) => {
  const [place] = unknownFields(request, [...MESSAGE, 'reasoning'])
  if (place === undefined) return undefined
  const { index, role, path } = place
  return bad(
    `'messages.${index}' : for 'role:${role}' the following must be satisfied[('messages.${index}' : property '${path.join('.')}' is unsupported)]`,
  )
}

/** Groq looks up the tools that the history has called. */
export const groqTools: Check = ({ messages, tools = [] }) => {
  const offered = tools.map(({ function: { name } }) => name)
  const called = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ function: { name } }) => name))
  return called.every((name) => offered.includes(name)) ? undefined : bad('requested tool does not exist')
}

export const xaiContent: Check = (request) =>
  firstOf(request, (message) =>
    message.content === '' && !hasCalls(message)
      ? bad('Invalid request content: Each message must have at least one content element.')
      : undefined,
  )

/** Ollama reads the arguments of the history. */
export const ollamaArguments: Check = (request) =>
  firstOf(request, ({ tool_calls: calls = [] }) =>
    calls.some(({ function: { arguments: json } }) => !isJsonObject(json))
      ? bad('invalid tool call arguments')
      : undefined,
  )

function isJsonObject(json: string): boolean {
  try {
    return isObject(JSON.parse(json))
  } catch {
    return false
  }
}

const ALTERNATE =
  'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.'

/** The templates of Mistral's models in local servers: without calls and results, users and assistants take turns. */
function alternates({ messages }: ChatRequest): boolean {
  const spoken = messages.filter(
    (message, index) => message.role !== 'tool' && !hasCalls(message) && !(index === 0 && message.role === 'system'),
  )
  return spoken.every(({ role }, nth) => role === (nth % 2 === 0 ? 'user' : 'assistant'))
}

export const llamaCppRoles: Check = (request) =>
  alternates(request) ? undefined : bad(jinja(ALTERNATE), { status: 500 })

export const lmStudioRoles: Check = (request) => (alternates(request) ? undefined : bad(template(ALTERNATE)))

/** The schemas of all tools, each by the server's own rule. */
function toolSchemas(rule: SchemaRule, words: (fault: string, index: number) => string): Check {
  return ({ tools = [] }) => {
    for (const [index, { function: called }] of tools.entries()) {
      const fault = called.parameters === undefined ? undefined : rule(called.parameters)
      if (fault !== undefined) return bad(words(fault, index))
    }
    return undefined
  }
}

export const geminiSchemas = toolSchemas(
  geminiSchema,
  (fault, index) => `* GenerateContentRequest.tools[0].function_declarations[${index}].${fault}`,
)
export const kimiSchemas = toolSchemas(kimiSchema, (fault) => `Invalid request: ${fault}`)
export const llamaCppSchemas = toolSchemas(llamaCppSchema, (fault) => fault)
