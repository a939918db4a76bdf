import type { Content } from '../../core/content.ts'
import { inWords, nameOf } from '../../core/content-words.ts'
import type { ModelMessage, ModelRequest, Opaque, ToolSpec } from '../../core/model.ts'
import type { ThinkingLevel } from '../../core/session.ts'
import { portableId } from './call-ids.ts'
import { type Images, unshown } from './pictures.ts'
import { argumentsObject } from './tool-arguments.ts'
import { legalName } from './tool-names.ts'
import { type MetTraits, type ModelTraits, meetTraits } from './traits.ts'
import type { Built } from './wire-model.ts'

/** The subset of the Messages API that is ever sent. */
interface WireMessage {
  role: 'user' | 'assistant'
  content: WireBlock[]
}

type WireBlock = (
  | ThoughtBlock
  | ShownBlock
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown>; [field: string]: unknown }
  | { type: 'tool_result'; tool_use_id: string; content: string | ShownBlock[]; is_error: boolean }
) & { cache_control?: { type: 'ephemeral' } }

type ShownBlock =
  | { type: 'text'; text: string; cache_control?: { type: 'ephemeral' } }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

interface WireTool {
  name: string
  description: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
}

export interface MessagesBody extends ThinkingParams {
  model: string
  messages: WireMessage[]
  stream: true
  system?: { type: 'text'; text: string; cache_control?: { type: 'ephemeral' } }[]
  tools?: WireTool[]
  temperature?: number
}

/** A thought as it came. Servers that imitate the API may leave the signature out. */
export type ThoughtBlock =
  | { type: 'thinking'; thinking: string; signature?: string }
  | { type: 'redacted_thinking'; data: string }

/**
 * The blocks of a step in their order, since the API refuses thoughts that have moved: thoughts as they came, a text
 * by its length, a call by the fields that no protocol has.
 */
export type PlacedBlock =
  | { readonly type: 'thought'; readonly block: ThoughtBlock }
  | { readonly type: 'text'; readonly length: number }
  | { readonly type: 'call'; readonly fields?: Readonly<Record<string, unknown>> }

interface Asking {
  /** `<server>/<model>`. */
  readonly id: string
  readonly model: string
  readonly traits: ModelTraits
  /** The most tokens that the answer to this request may have; absent: as many as the model writes. */
  readonly most?: number
}

interface Translating extends Asking {
  readonly images: Images
  /** The request forbids the model to think. */
  readonly unthinking: boolean
  readonly may: MetTraits['may']
}

/** Returns the request as the server of a model takes it, as far as its traits are known. */
export function buildRequest(request: ModelRequest, images: Images, asking: Asking): Built<MessagesBody> {
  const { model, traits } = asking
  const { may, avoidable } = meetTraits(traits)
  const params = thinkingParams(request, asking, may)
  const unthinking = params.thinking?.type === 'disabled'
  const messages = toWireMessages(request.messages, { ...asking, images, unthinking, may })
  const tools = toWireTools(request.tools, messages)
  const marks = may('no-cache-marks')
  const temperature = params.thinking === undefined ? temperatureParam(request, asking, may) : {}
  const body: MessagesBody = {
    model,
    ...params,
    ...temperature,
    messages: marks ? markEnd(messages) : messages,
    stream: true,
    ...systemBlocks(request, marks),
    ...(tools.length === 0 || !may('no-tools') ? {} : { tools }),
  }
  return { body, avoidable, answer: body.max_tokens }
}

/** The names of the place stand behind the mark: what is before it is the same in all conversations of an agent. */
function systemBlocks({ system, place = '' }: ModelRequest, marks: boolean): Pick<MessagesBody, 'system'> {
  const blocks = [
    { text: system, mark: marks ? CACHE_MARK : {} },
    { text: place, mark: {} },
  ].filter(({ text }) => text !== '')
  return blocks.length === 0 ? {} : { system: blocks.map(({ text, mark }) => ({ type: 'text', text, ...mark })) }
}

/** Asks the provider to keep the prompt up to here for five minutes; reading it again costs a tenth. */
const CACHE_MARK = { cache_control: { type: 'ephemeral' } } as const

/**
 * Marks the end of the messages. The next request of the conversation begins with the same bytes, so that the
 * provider finds them again: it looks for an earlier end among the twenty blocks before a mark. The system prompt
 * has a mark of its own, which all conversations of an agent share, tools included.
 */
function markEnd(messages: readonly WireMessage[]): WireMessage[] {
  return messages.map((message, at) => {
    if (at < messages.length - 1) return message
    const { role, content } = message
    return {
      role,
      content: content.map((block, nth) => (nth < content.length - 1 ? block : { ...block, ...CACHE_MARK })),
    }
  })
}

/**
 * Translates our messages: tool results become blocks of a user message, messages of one role that follow each other
 * are merged, and no text block is empty (each of which the API refuses otherwise). Results stay in front of texts.
 */
function toWireMessages(messages: readonly ModelMessage[], at: Translating): WireMessage[] {
  const wire: WireMessage[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = at.traits.has('no-tools') ? textBlocks(message, at) : blocksOf(message, at)
    const last = wire.at(-1)
    if (content.length === 0) continue
    if (last?.role === role) last.content.push(...content)
    else wire.push({ role, content })
  }
  return wire
}

/**
 * The tools of a request. The API refuses tool blocks without any tool defined, so that a turn resumed after its
 * tools left the configuration gets the names it used defined again; calling them is answered as unknown.
 */
function toWireTools(tools: readonly ToolSpec[], messages: readonly WireMessage[]): WireTool[] {
  if (tools.length > 0) return tools.map(toWireTool)
  const used = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? block.name : [])),
  )
  return [...new Set(used)].map((name) => toWireTool({ name, description: 'No longer available.', parameters: {} }))
}

function toWireTool({ name, description, parameters }: ToolSpec): WireTool {
  return { name, description, input_schema: { ...parameters, type: 'object' } }
}

function blocksOf(message: ModelMessage, at: Translating): WireBlock[] {
  switch (message.role) {
    case 'user':
      return orElse(shownBlocks(message.content, at), '(a message without text)')
    case 'assistant':
      return assistantBlocks(message, at)
    case 'tool':
      return message.results.map(({ id, content, isError }) => ({
        type: 'tool_result',
        tool_use_id: portableId(id),
        content: resultOf(content, at),
        is_error: isError,
      }))
  }
}

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>

function assistantBlocks({ text, calls, opaque }: AssistantMessage, { id, unthinking, may }: Translating): WireBlock[] {
  const own = opaque?.model === id && calls.length > 0 ? placedBlocks(opaque) : undefined
  const ownFields = (nth: number) => {
    const fields = own?.filter((block) => block.type === 'call')[nth]?.fields
    return fields !== undefined && may('own-fields-refused') ? fields : {}
  }
  const asked = calls.map<WireBlock>(({ id: callId, name, args }, nth) => ({
    ...ownFields(nth),
    type: 'tool_use',
    id: portableId(callId),
    name: legalName(name),
    input: argumentsObject(args),
  }))
  if (own === undefined) return [...textBlock(text), ...asked]
  const takesThoughts = !unthinking && may('no-thoughts-back')
  const placed = isLaidOut(own, text, asked.length)
    ? inPlaces(own, text, asked)
    : [...thoughtsIn(own), ...textBlock(text), ...asked]
  return takesThoughts ? placed : placed.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
}

function placedBlocks({ data }: Opaque): readonly PlacedBlock[] {
  return data as readonly PlacedBlock[]
}

/** Returns true if text and calls are still those that were laid out: words may have been read out of the text. */
function isLaidOut(own: readonly PlacedBlock[], text: string, calls: number): boolean {
  const length = own.reduce((sum, block) => sum + (block.type === 'text' ? block.length : 0), 0)
  return length === text.length && own.filter(({ type }) => type === 'call').length === calls
}

function inPlaces(own: readonly PlacedBlock[], text: string, asked: readonly WireBlock[]): WireBlock[] {
  let [at, nth] = [0, 0]
  return own.flatMap((block): WireBlock[] => {
    if (block.type === 'thought') return [block.block]
    if (block.type === 'call') return asked.slice(nth, ++nth)
    const words = text.slice(at, at + block.length)
    at += block.length
    return textBlock(words)
  })
}

function thoughtsIn(own: readonly PlacedBlock[]): WireBlock[] {
  return own.flatMap((block) => (block.type === 'thought' ? [block.block] : []))
}

function textBlock(text: string): WireBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

/** A message for a model that takes no tools: what another model has called before it took over. */
function textBlocks(message: ModelMessage, at: Translating): WireBlock[] {
  if (message.role === 'user') return blocksOf(message, at)
  if (message.role === 'tool')
    return message.results.flatMap(({ content }) => textBlock(`(a tool) ${inWords(content)}`))
  const called = message.calls.map(
    ({ name, args }) => `(I used ${name} with ${JSON.stringify(argumentsObject(args))}.)`,
  )
  return [message.text, ...called].flatMap(textBlock)
}

/** A result that is text alone is sent as such. */
function resultOf(content: Content, at: Translating): string | ShownBlock[] {
  const blocks = shownBlocks(content, at)
  if (blocks.some(({ type }) => type === 'image')) return blocks
  const words = inWords(content)
  return words.trim() === '' ? '(no output)' : words
}

/** Files that are not shown are named in words. */
function shownBlocks(content: Content, { images, may }: Translating): ShownBlock[] {
  return content.flatMap((part): ShownBlock[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    const data = images.get(part.media)
    if (data === undefined) return [{ type: 'text', text: nameOf(part) }]
    if (!may('no-pictures')) return [{ type: 'text', text: unshown(part) }]
    return [{ type: 'image', source: { type: 'base64', media_type: part.mime as ImageType, data } }]
  })
}

function orElse(blocks: ShownBlock[], substitute: string): ShownBlock[] {
  return blocks.length === 0 ? [{ type: 'text', text: substitute }] : blocks
}

type Effort = Exclude<ThinkingLevel, 'off'>

/** The part of a request that says how much may be thought. */
interface ThinkingParams {
  max_tokens: number
  thinking?: { type: 'adaptive' } | { type: 'disabled' } | { type: 'enabled'; budget_tokens: number }
  output_config?: { effort: Effort }
}

/** Tokens for thoughts; they count towards the answer's limit, which is raised by them. */
const BUDGET: Readonly<Record<Effort, number>> = { low: 2_048, medium: 8_192, high: 16_384 }
/** The least that may be thought, and the least that is left for an answer. */
const LEAST = 1_024

/**
 * Claude models that take a number of tokens, that cannot think, that think whatever is asked; all others think as
 * they see fit. Servers that imitate the API know the oldest form.
 */
const BUDGETED = /^claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?$)/
const CANNOT = /^claude-(2|instant|3-(haiku|sonnet|opus|5))/
const ALWAYS = /^claude-(fable|mythos)/
/** Newer models refuse any temperature but their own. */
const TAKES_TEMPERATURE = /^claude-(2|instant|3|(opus|sonnet|haiku)-4(-[0-6])?$)/

/**
 * Returns the name of a Claude model as Anthropic has it, from whatever a gateway makes of it
 * (`anthropic/claude-haiku-4.5`, `us.anthropic.claude-haiku-4-5-20251001-v1:0`, `claude-haiku-4-5@20251001`); the
 * name of any other model as it is.
 */
export function claudeName(model: string): string {
  const [found] = /claude-[a-z0-9.-]+/.exec(model.toLowerCase()) ?? []
  if (found === undefined) return model
  return found
    .replaceAll('.', '-')
    .replace(/-v\d+$/, '')
    .replace(/-(latest|thinking)$/, '')
    .replace(/-\d{8}$/, '')
    .replace(/^claude-([4-9](?:-\d)?)-(opus|sonnet|haiku)$/, 'claude-$2-$1')
}

/**
 * Returns the parameters for a thinking level (T37). A model that takes a number of tokens refuses a step of the turn
 * without its own thoughts, such as one of another model: then it does not think in this turn. All others take it.
 */
function thinkingParams(
  { thinking, maxTokens, messages }: ModelRequest,
  { id, model, traits, most: mostNow = Number.POSITIVE_INFINITY }: Asking,
  may: MetTraits['may'],
): ThinkingParams {
  const most = (tokens: number): number => Math.min(tokens, mostNow, traits.longestAnswer ?? Number.POSITIVE_INFINITY)
  const answer = { max_tokens: most(maxTokens + (traits.has('thinks') ? BUDGET.medium : 0)) }
  const name = claudeName(model)
  if (thinking === undefined || CANNOT.test(name) || !may('cannot-think')) return answer
  const budgeted = isBudgeted(name, traits)
  if (thinking === 'off') {
    const thinks = ALWAYS.test(name) || !may('thinks-always')
    return budgeted || thinks ? answer : { ...answer, thinking: { type: 'disabled' } }
  }
  const budget = BUDGET[thinking]
  const room = { max_tokens: most(maxTokens + budget) }
  if (!budgeted) {
    may('thinks-by-budget')
    return { ...room, thinking: { type: 'adaptive' }, output_config: { effort: thinking } }
  }
  may('thinks-as-it-sees-fit')
  const fitting = Math.min(budget, room.max_tokens - LEAST)
  if (fitting < LEAST || !messages.every((message) => hasItsThoughts(message, id))) return answer
  return { ...room, thinking: { type: 'enabled', budget_tokens: fitting } }
}

function isBudgeted(name: string, traits: ModelTraits): boolean {
  if (traits.has('thinks-as-it-sees-fit')) return false
  return traits.has('thinks-by-budget') || BUDGETED.test(name) || !name.startsWith('claude-')
}

/** A step with tool calls belongs to the running turn. */
function hasItsThoughts(message: ModelMessage, id: string): boolean {
  return message.role !== 'assistant' || message.calls.length === 0 || message.opaque?.model === id
}

/** Returns the temperature of a request that asks for one, where the model takes it. */
function temperatureParam(
  { temperature }: ModelRequest,
  { model }: Asking,
  may: MetTraits['may'],
): { temperature?: number } {
  const takes = temperature !== undefined && TAKES_TEMPERATURE.test(claudeName(model))
  return takes && may('no-temperature') ? { temperature } : {}
}
