import type { MessagesRequest } from './request.ts'
import type { AnswerReply, ReplyBlock, StopReason } from './script.ts'

export type SentBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Readonly<Record<string, unknown>>; caller: { type: 'direct' } }
  | { type: 'thinking'; thinking: string; signature: string }

/** A complete answer as the API gives it without streaming. */
export interface ReplyMessage {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: SentBlock[]
  stop_reason: StopReason
  stop_sequence: null
  stop_details: null
  container: null
  diagnostics: null
  usage: Usage
}

export interface Usage {
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  cache_creation: null
  output_tokens_details: null
  server_tool_use: null
  service_tier: 'standard'
  inference_geo: null
  speed: null
}

/** The fields that a rehearsed answer leaves out; they are there, as the API sends them. */
const unusedUsage = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: null,
  speed: null,
} as const

const charactersPerToken = 4

/** Fills in the fields that a reply leaves out; `turn` makes its ids unique on one server. */
export function buildReply(reply: AnswerReply, request: MessagesRequest, turn: number): ReplyMessage {
  const content = reply.blocks.map((block, index) => sentBlock(block, `${pad(turn)}${pad(index)}`))
  const usage = reply.usage ?? {
    input_tokens: tokens(JSON.stringify([request.system ?? '', request.messages])),
    output_tokens: tokens(JSON.stringify(content)),
  }
  return {
    id: `msg_rehearsal${pad(turn)}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    stop_reason: reply.stopReason ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { ...unusedUsage, ...usage },
  }
}

function sentBlock(block: ReplyBlock, unique: string): SentBlock {
  switch (block.type) {
    case 'text':
      return block
    case 'tool_use':
      return {
        type: 'tool_use',
        id: block.id ?? `toolu_rehearsal${unique}`,
        name: block.name,
        input: block.input,
        caller: { type: 'direct' },
      }
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature ?? `signature${unique}` }
  }
}

function pad(number: number): string {
  return String(number).padStart(6, '0')
}

function tokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / charactersPerToken))
}
