import type { ModelMessage, ToolSpec } from '../core/model.ts'
import { type ThoughtBlock, thoughtsOf } from './anthropic-thinking.ts'

/** The subset of the Messages API that is ever sent. */
interface WireMessage {
  role: 'user' | 'assistant'
  content: WireBlock[]
}

type WireBlock =
  | ThoughtBlock
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; tool_use_id: string; content: string; is_error: boolean }

interface WireTool {
  name: string
  description: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
}

/**
 * Translates our messages: tool results become blocks of a user message, messages of one role that follow each other
 * are merged, and no text block is empty (each of which the API refuses otherwise). Results stay in front of texts.
 * With `thoughts` the steps of the running turn carry what the model thought.
 */
export function toWireMessages(messages: readonly ModelMessage[], thoughts = false): WireMessage[] {
  const wire: WireMessage[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocksOf(message, thoughts)
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

function blocksOf(message: ModelMessage, thoughts: boolean): WireBlock[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'text', text: orElse(message.text, '(a message without text)') }]
    case 'assistant': {
      const calls = message.calls.map<WireBlock>(({ id, name, args }) => ({
        type: 'tool_use',
        id,
        name,
        input: isRecord(args) ? args : {},
      }))
      const said: WireBlock[] = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }]
      // Thoughts come first and unchanged, because the API checks that.
      const thought = thoughts ? thoughtsOf(message.reasoning) : []
      return [...thought, ...said, ...calls]
    }
    case 'tool':
      return message.results.map(({ id, content, isError }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: orElse(content, '(no output)'),
        is_error: isError,
      }))
  }
}

function orElse(text: string, substitute: string): string {
  return text.trim() === '' ? substitute : text
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
