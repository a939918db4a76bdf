import { createHash } from 'node:crypto'
import type { ContentPart } from '../../core/content.ts'
import { inWords, nameOf } from '../../core/content-words.ts'
import type { ModelMessage, ModelRequest, ModelToolCall, ModelToolResult, ToolSpec } from '../../core/model.ts'
import type { ThinkingLevel } from '../../core/session.ts'
import { portableId } from './call-ids.ts'
import { type Images, unshown } from './pictures.ts'
import { argumentsObject } from './tool-arguments.ts'
import { legalName } from './tool-names.ts'
import { type MetTraits, type ModelTraits, meetTraits } from './traits.ts'
import type { Built } from './wire-model.ts'

/** The subset of the Chat Completions API that is ever sent, and the fields of its own that a server gets back. */
type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ShownPart[] }
  | { role: 'assistant'; content: string | object[] | null; tool_calls?: WireCall[]; [field: string]: unknown }
  | { role: 'tool'; tool_call_id: string; content: string }

type ShownPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

interface WireCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  [field: string]: unknown
}

export interface CompletionBody extends LimitParams {
  model: string
  messages: ChatMessage[]
  stream: true
  stream_options?: { include_usage: true }
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[]
}

/** The fields of a step that a server of this API put there, which are its alone. */
export interface StepFields {
  /** Fields of the message: thoughts in whatever fields they came. */
  readonly message: Readonly<Record<string, unknown>>
  /** Parts of its content that are no text. */
  readonly parts: readonly object[]
  /** For each call its fields, with the id as it came; null: none. */
  readonly calls: readonly (Readonly<Record<string, unknown>> | null)[]
}

interface Asking {
  /** `<server>/<model>`. */
  readonly id: string
  readonly model: string
  readonly traits: ModelTraits
  /** The most tokens that the answer to this request may have; absent: as many as the model writes. */
  readonly most?: number
}

/** Returns the request as the server of a model takes it, as far as its traits are known. */
export function buildRequest(request: ModelRequest, images: Images, asking: Asking): Built<CompletionBody> {
  const { model, traits } = asking
  const { may, avoidable } = meetTraits(traits)
  const offered = withUsed(request)
  const tools = offered.length > 0 && may('no-tools') ? toWireTools(offered) : []
  const body: CompletionBody = {
    model,
    ...limitParams({ ...request, tools: offered }, asking, may),
    messages: toWireMessages(request, images, { ...asking, may }),
    stream: true,
    ...(may('no-usage-option') ? { stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0 ? {} : { tools }),
  }
  return { body, avoidable, answer: body.max_tokens ?? body.max_completion_tokens ?? 0 }
}

/**
 * Returns the tools of a request, and each other one that its history names: some servers refuse a call of a tool
 * that is not there (Groq), also where a model has made its name up. It is answered as unknown when it is called.
 */
function withUsed({ tools, messages }: ModelRequest): readonly ToolSpec[] {
  const names = new Set(tools.map(({ name }) => name))
  const used = messages
    .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    .map(({ name }) => legalName(name))
  const missing = [...new Set(used)].filter((name) => !names.has(name))
  return [...tools, ...missing.map((name) => ({ name, description: 'Not available.', parameters: {} }))]
}

function toWireTools(tools: readonly ToolSpec[]): NonNullable<CompletionBody['tools']> {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    // The API refuses an object whose properties are not named, even if it has none.
    function: { name, description, parameters: { properties: {}, ...parameters, type: 'object' } },
  }))
}

interface Translating extends Asking {
  readonly may: MetTraits['may']
}

/**
 * The line of the assistant between the results of tools and the next words of a person (Mistral refuses none
 * there).
 */
const BRIDGE = '(The results are there.)'
/** The line in front of a conversation that the assistant began, which many templates refuse. */
const OPENING = '(The conversation so far.)'

/**
 * Translates our messages into a form that every server takes: what is said in a row by one side is merged, because
 * local servers demand that roles alternate; between the results of tools and a user stands an assistant (Mistral);
 * text alone is a string, because many know no other; the pictures of tool results follow in a user message, because
 * tool messages carry text only.
 */
function toWireMessages({ system, place, messages }: ModelRequest, images: Images, at: Translating): ChatMessage[] {
  const wire: ChatMessage[] = []
  const said = (parts: ShownPart[]): void => {
    const last = wire.at(-1)
    if (last?.role === 'tool') wire.push(assistantText(BRIDGE, at))
    if (last?.role === 'user') last.content = asContent([...asParts(last.content), ...parts])
    else wire.push({ role: 'user', content: asContent(parts) })
  }
  const takesTools = !at.traits.has('no-tools')
  const steps = createSteps(at)
  const results = (given: readonly ModelToolResult[]): void => {
    if (takesTools) wire.push(...given.map(steps.result))
    const parts = takesTools
      ? given.flatMap((result) => picturesOf(result, images, at))
      : given.map(({ content }) => textPart(`(a tool) ${inWords(content)}`))
    if (parts.length > 0) said(parts)
  }
  for (const message of messages) {
    if (message.role === 'user') {
      const parts = message.content.flatMap((part) => shown(part, images, at))
      said(parts.length === 0 ? [textPart('(a message without text)')] : parts)
    } else if (message.role === 'tool') results(message.results)
    else addAssistant(wire, takesTools ? steps.step(message) : textOnly(message, at))
  }
  if (wire[0]?.role === 'assistant') wire.unshift({ role: 'user', content: OPENING })
  return withSystem([system, place ?? ''].filter((part) => part !== '').join('\n\n'), wire, at)
}

/** A model that takes no system prompt reads it in front of what is said first. */
function withSystem(system: string, wire: ChatMessage[], { may }: Translating): ChatMessage[] {
  if (system === '') return wire
  if (may('no-system')) return [{ role: 'system', content: system }, ...wire]
  const [first, ...rest] = wire
  if (first?.role !== 'user') return [{ role: 'user', content: system }, ...wire]
  return [{ role: 'user', content: asContent([textPart(system), ...asParts(first.content)]) }, ...rest]
}

/** A text of the assistant behind another is one with it; one that says and calls nothing is left out. */
function addAssistant(wire: ChatMessage[], message: ChatMessage | undefined): void {
  if (message?.role !== 'assistant') return
  const last = wire.at(-1)
  const joins = last?.role === 'assistant' && last.tool_calls === undefined && typeof last.content === 'string'
  if (!joins || Array.isArray(message.content)) return void wire.push(message)
  wire[wire.length - 1] = { ...message, content: [last.content, message.content ?? []].flat().join('\n\n') }
}

function assistantText(content: string, { may }: Translating): Extract<ChatMessage, { role: 'assistant' }> {
  return { role: 'assistant', content, ...(may('thoughts-with-calls') ? {} : NO_THOUGHTS) }
}

/** A server that demands thoughts takes this for a step without any of its own. */
const NO_THOUGHTS = { reasoning_content: '' } as const

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>

/** A step for a model that takes no tools: what another model has called before it took over. */
function textOnly({ text, calls }: AssistantMessage, at: Translating): ChatMessage | undefined {
  const called = calls.map(({ name, args }) => `(I used ${name} with ${JSON.stringify(argumentsObject(args))}.)`)
  const words = [...(text.trim() === '' ? [] : [text]), ...called].join('\n')
  return words === '' ? undefined : assistantText(words, at)
}

/** Translates steps and their results, whose ids belong together. */
function createSteps(at: Translating) {
  const { id: model, may } = at
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  const wireId = (call: ModelToolCall, own: unknown): string => {
    const nine = !may('nine-character-ids')
    const wanted = typeof own === 'string' && !taken.has(own) ? own : call.id
    const id = nine ? nineCharacters(wanted) : wanted === own ? wanted : portableId(wanted)
    taken.add(id)
    ids.set(call.id, id)
    return id
  }
  const wireCalls = (calls: readonly ModelToolCall[], own: StepFields | undefined): WireCall[] =>
    calls.map((call, nth) => {
      const { id, ...fields } = fieldsOf(own, calls.length)[nth] ?? {}
      return {
        ...(nth === 0 ? signedCall(ownFields(fields, may), may) : ownFields(fields, may)),
        id: wireId(call, id),
        type: 'function',
        function: { name: legalName(call.name), arguments: JSON.stringify(argumentsObject(call.args)) },
      }
    })
  return {
    step({ text, calls, opaque }: AssistantMessage): ChatMessage | undefined {
      const said = text.trim() === '' ? [] : [textPart(text)]
      if (calls.length === 0) return said.length === 0 ? undefined : assistantText(text, at)
      const own = opaque?.model === model ? (opaque.data as StepFields) : undefined
      const { message, parts } = thoughtsOf(own, may)
      const thoughts = may('thoughts-with-calls') ? {} : NO_THOUGHTS
      const content = parts.length > 0 ? [...parts, ...said] : (said[0]?.text ?? null)
      return { ...thoughts, ...message, role: 'assistant', content, tool_calls: wireCalls(calls, own) }
    },
    result({ id, content }: ModelToolResult): ChatMessage {
      const words = inWords(content)
      return { role: 'tool', tool_call_id: ids.get(id) ?? id, content: words.trim() === '' ? '(no output)' : words }
    },
  }
}

function thoughtsOf(own: StepFields | undefined, may: MetTraits['may']): Pick<StepFields, 'message' | 'parts'> {
  return own !== undefined && may('no-thoughts-back') ? own : { message: {}, parts: [] }
}

/** Returns the fields of each call; none where calls were read out of the text, or out of one another. */
function fieldsOf(own: StepFields | undefined, calls: number): StepFields['calls'] {
  return own?.calls.length === calls ? own.calls : []
}

function ownFields(
  fields: Readonly<Record<string, unknown>>,
  may: MetTraits['may'],
): Readonly<Record<string, unknown>> {
  return Object.keys(fields).length > 0 && may('own-fields-refused') ? fields : {}
}

/** The signature that Gemini documents for calls that it did not make itself; the first call of a step has one. */
const ANY_SIGNATURE = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } }

function signedCall(
  fields: Readonly<Record<string, unknown>>,
  may: MetTraits['may'],
): Readonly<Record<string, unknown>> {
  return 'extra_content' in fields || may('signed-calls') ? fields : { ...fields, ...ANY_SIGNATURE }
}

/** Mistral's form of an id; the same id gives the same one in each request. */
function nineCharacters(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return createHash('sha256').update(id).digest('hex').slice(0, 9)
}

/** Returns the pictures of a result, each under the name by which its tool message speaks of it. */
function picturesOf({ content }: ModelToolResult, images: Images, at: Translating): ShownPart[] {
  return content.flatMap((part) => {
    const parts = part.type === 'text' ? [] : shown(part, images, at)
    return part.type !== 'text' && parts.some(({ type }) => type === 'image_url')
      ? [textPart(`From a tool: ${nameOf(part)}`), ...parts]
      : []
  })
}

/** Files that are not shown are named in words. */
function shown(part: ContentPart, images: Images, { may }: Translating): ShownPart[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [textPart(part.text)]
  const data = images.get(part.media)
  if (data === undefined) return [textPart(nameOf(part))]
  if (!may('no-pictures')) return [textPart(unshown(part))]
  return [{ type: 'image_url', image_url: { url: `data:${part.mime};base64,${data}` } }]
}

function asParts(content: string | ShownPart[]): ShownPart[] {
  return typeof content === 'string' ? [textPart(content)] : content
}

/** Text alone is a string. */
function asContent(parts: ShownPart[]): string | ShownPart[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  return texts.length === parts.length ? texts.join('\n') : parts
}

function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

/** The part of a request that says how long the answer may be and how much may be thought. */
interface LimitParams {
  max_tokens?: number
  max_completion_tokens?: number
  reasoning_effort?: Effort
  temperature?: number
}

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high'

/** Tokens for thoughts; they count towards the answer's limit, which is raised by them. */
const ROOM: Readonly<Record<Effort, number>> = { none: 0, minimal: 2_048, low: 2_048, medium: 8_192, high: 16_384 }

/** OpenAI's models that think, and those of them that can do without; the names may follow that of a vendor. */
const THINKS = /^(.*\/)?(o\d|gpt-[5-9])/
const NEED_NOT_THINK = /^(.*\/)?gpt-(5\.\d|[6-9])/
const BARELY_THINKS = /^(.*\/)?gpt-5/
/** OpenAI's models that cannot think, which refuse an effort. */
const CANNOT = /^(.*\/)?(gpt-[34]|chatgpt-|gpt-\d(\.\d+)?-chat)/

/**
 * OpenAI's models that refuse tools while they think, which they do unless the request says `none`: only its newer
 * API has both (decision 0019). A vendor in front of the name is a gateway that knows its way.
 */
const EITHER_THINKS_OR_CALLS = /^gpt-(5\.([2-9]|\d\d)|[6-9])/

/**
 * Returns the limit of the answer and the effort of a thinking level (T37). OpenAI's own API takes one limit for
 * every model; other servers know the older one, but for the models of OpenAI that refuse it. A model of another
 * vendor is given the level as it is.
 */
export function limitParams(
  {
    maxTokens,
    tools,
    temperature,
    thinking: wanted,
  }: Pick<ModelRequest, 'maxTokens' | 'thinking' | 'tools' | 'temperature'>,
  { model, traits, most: mostNow = Number.POSITIVE_INFINITY }: Pick<Asking, 'model' | 'traits' | 'most'>,
  may: MetTraits['may'],
): LimitParams {
  const thinks = THINKS.test(model)
  const thinking = tools.length > 0 && EITHER_THINKS_OR_CALLS.test(model) ? 'off' : wanted
  const asks = thinking !== undefined && !CANNOT.test(model) && may('no-effort')
  const effort = asks ? effortOf(model, thinking) : undefined
  const room = ROOM[effort ?? (thinks || traits.has('thinks') ? 'medium' : 'none')]
  const most = Math.min(maxTokens + room, mostNow, traits.longestAnswer ?? Number.POSITIVE_INFINITY)
  const newer = !traits.has('max-tokens') && (thinks || traits.has('max-completion-tokens'))
  may(newer ? 'max-tokens' : 'max-completion-tokens')
  return {
    ...(newer ? { max_completion_tokens: most } : { max_tokens: most }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    // OpenAI's models that think take no temperature but their own.
    ...(temperature !== undefined && !thinks && may('no-temperature') ? { temperature } : {}),
  }
}

function effortOf(model: string, thinking: ThinkingLevel): Effort {
  if (thinking !== 'off') return thinking
  if (!THINKS.test(model) || NEED_NOT_THINK.test(model)) return 'none'
  return BARELY_THINKS.test(model) ? 'minimal' : 'low'
}
