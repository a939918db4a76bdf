import { tokensIn } from './prompt-blocks.ts'
import type { InputUsage } from './prompt-cache.ts'
import type { AnswerReply, Quirks, ReplyBlock, StopReason } from './script.ts'

export type SentBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Readonly<Record<string, unknown>>; caller: { type: 'direct' } }
  | { type: 'thinking'; thinking: string; signature?: string }
  | { type: 'redacted_thinking'; data: string }

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

export interface Usage extends InputUsage {
  output_tokens: number
  output_tokens_details: null
  server_tool_use: null
  service_tier: 'standard'
  inference_geo: null
  speed: null
}

/** The fields that a rehearsed answer leaves out; they are there, as the API sends them. */
const unusedUsage = {
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: null,
  speed: null,
} as const

/** The request as far as its answer speaks of it. */
export interface Asked {
  readonly model: string
  /** Makes the ids of the answer unique on one server. */
  readonly turn: number
  readonly input: InputUsage
  /** Those of the server and of the reply. */
  readonly quirks?: Quirks
}

/** Fills in the fields that a reply leaves out. */
export function buildReply(reply: AnswerReply, { model, turn, input, quirks = {} }: Asked): ReplyMessage {
  const content = reply.blocks.map((block, index) => sentBlock(block, `${pad(turn)}${pad(index)}`, quirks))
  return {
    id: `msg_rehearsal${pad(turn)}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reply.stopReason ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      ...unusedUsage,
      ...(usageByHand(reply) ?? { ...input, output_tokens: tokensIn(JSON.stringify(content)) }),
    },
  }
}

function sentBlock(block: ReplyBlock, unique: string, quirks: Quirks): SentBlock {
  switch (block.type) {
    case 'text':
    case 'redacted_thinking':
      return block
    case 'tool_use':
      return {
        type: 'tool_use',
        id: block.id ?? `toolu_rehearsal${unique}`,
        name: block.name,
        input: block.input,
        caller: { type: 'direct' },
      }
    case 'thinking': {
      const { thinking, signature = `signature${unique}` } = block
      if (quirks.thoughts === 'text') return { type: 'text', text: `<think>\n${thinking}\n</think>\n\n` }
      if (quirks.thoughts === 'signed') return { type: 'thinking', thinking: '', signature }
      if (quirks.signatures === 'none') return { type: 'thinking', thinking }
      return { type: 'thinking', thinking, signature: quirks.signatures === 'empty' ? '' : signature }
    }
  }
}

function usageByHand({ usage }: AnswerReply): (InputUsage & { output_tokens: number }) | undefined {
  if (usage === undefined) return undefined
  const written = usage.cache_creation_input_tokens ?? 0
  return {
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    ...usage,
  }
}

function pad(number: number): string {
  return String(number).padStart(6, '0')
}
