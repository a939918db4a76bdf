import type { Content } from '../../core/content.ts'
import { inWords, nameOf } from '../../core/content-words.ts'
import type { ModelMessage, ToolSpec } from '../../core/model.ts'
import { type ThoughtBlock, thoughtsOf } from './anthropic-thinking.ts'
import { type Images, NO_IMAGES } from './load-images.ts'
import { argumentsObject } from './tool-arguments.ts'

/** The subset of the Messages API that is ever sent. */
export interface WireMessage {
  role: 'user' | 'assistant'
  content: (WireBlock & CacheMark)[]
}

interface CacheMark {
  cache_control?: { type: 'ephemeral' }
}

type WireBlock =
  | ThoughtBlock
  | ShownBlock
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; tool_use_id: string; content: string | ShownBlock[]; is_error: boolean }

type ShownBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

interface WireTool {
  name: string
  description: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
}

/**
 * Translates our messages: tool results become blocks of a user message, messages of one role that follow each other
 * are merged, and no text block is empty (each of which the API refuses otherwise). Results stay in front of texts.
 * With `thinks` the steps of the running turn carry what the model thought.
 */
export function toWireMessages(messages: readonly ModelMessage[], shown: Shown = NOTHING_MORE): WireMessage[] {
  const wire: WireMessage[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocksOf(message, shown)
    const last = wire.at(-1)
    if (content.length === 0) continue
    if (last?.role === role) last.content.push(...content)
    else wire.push({ role, content })
  }
  return wire
}

/**
 * The tools of a request. The API refuses tool blocks without any tool defined, so that a turn resumed after its tools
 * left the configuration gets the names it used defined again; calling them is answered as unknown.
 */
export function toWireTools(tools: readonly ToolSpec[], messages: readonly WireMessage[]): WireTool[] {
  if (tools.length > 0) return tools.map(toWireTool)
  const used = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? block.name : [])),
  )
  return [...new Set(used)].map((name) => toWireTool({ name, description: 'No longer available.', parameters: {} }))
}

function toWireTool({ name, description, parameters }: ToolSpec): WireTool {
  return { name, description, input_schema: { ...parameters, type: 'object' } }
}

/** The part of a request that does not stand in its messages. */
interface Shown {
  readonly thinks: boolean
  readonly images: Images
}

const NOTHING_MORE: Shown = { thinks: false, images: NO_IMAGES }

function blocksOf(message: ModelMessage, { thinks, images }: Shown): WireBlock[] {
  switch (message.role) {
    case 'user':
      return orElse(shownBlocks(message.content, images), '(a message without text)')
    case 'assistant': {
      const calls = message.calls.map<WireBlock>(({ id, name, args }) => ({
        type: 'tool_use',
        id,
        name,
        input: argumentsObject(args),
      }))
      const said: WireBlock[] = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }]
      // Thoughts come first and unchanged, because the API checks that.
      const thought = thinks ? thoughtsOf(message.opaque) : []
      return [...thought, ...said, ...calls]
    }
    case 'tool':
      return message.results.map(({ id, content, isError }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: resultOf(content, images),
        is_error: isError,
      }))
  }
}

/** A result that is text alone is sent as such. */
function resultOf(content: Content, images: Images): string | ShownBlock[] {
  const blocks = shownBlocks(content, images)
  if (blocks.some(({ type }) => type === 'image')) return blocks
  const words = inWords(content)
  return words.trim() === '' ? '(no output)' : words
}

/** Files that are not shown are named in words. */
function shownBlocks(content: Content, images: Images): ShownBlock[] {
  return content.flatMap((part): ShownBlock[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    const data = images.get(part.media)
    if (data === undefined) return [{ type: 'text', text: nameOf(part) }]
    return [{ type: 'image', source: { type: 'base64', media_type: part.mime as ImageType, data } }]
  })
}

function orElse(blocks: ShownBlock[], substitute: string): ShownBlock[] {
  return blocks.length === 0 ? [{ type: 'text', text: substitute }] : blocks
}
