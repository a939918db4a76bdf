import type Anthropic from '@anthropic-ai/sdk'
import type { AnthropicServer, AnthropicServerOptions } from '../../../src/rehearsal/anthropic/server.ts'
import { ask, clientOf, rehearse } from './rehearsal.ts'

export type Params = Anthropic.MessageCreateParamsNonStreaming
export type Block = Anthropic.ContentBlockParam

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const mark = { cache_control: { type: 'ephemeral' } } as const
export const longMark = { cache_control: { type: 'ephemeral', ttl: '1h' } } as const

/** A text of exactly so many tokens as the server estimates. */
export function tokens(count: number, letter = 'x'): string {
  return letter.repeat(4 * count)
}

export function text(
  count: number,
  more: Partial<Anthropic.TextBlockParam> = {},
  letter = 'x',
): Anthropic.TextBlockParam {
  return { type: 'text', text: tokens(count, letter), ...more }
}

export const tool: Anthropic.Tool = { name: 'weather', description: tokens(2_000), input_schema: { type: 'object' } }
/** The description and the names of the fields. */
export const toolTokens = 2_021
export const user = (...content: Block[]): Anthropic.MessageParam => ({ role: 'user', content })
export const assistant = (...content: Block[]): Anthropic.MessageParam => ({ role: 'assistant', content })

/** A server with a clock, and a caller that tells [uncached, written, read] of a request. */
export async function rehearseCache(options: AnthropicServerOptions = {}) {
  const clock = { now: Date.UTC(2026, 10, 21) }
  const server = await rehearse({ now: () => clock.now, ...options })
  const send = (params: Partial<Params>, by: AnthropicServer['apiKey'] = server.apiKey) =>
    countsOf(clientOf({ ...server, apiKey: by }).messages.create({ ...ask('ok'), model: 'claude-sonnet-5', ...params }))
  return { server, clock, send }
}

async function countsOf(answer: Promise<Anthropic.Message>): Promise<[number, number, number]> {
  const { usage } = await answer
  return [usage.input_tokens, usage.cache_creation_input_tokens ?? 0, usage.cache_read_input_tokens ?? 0]
}

export const marked = { system: [text(1_500, mark)], messages: [user(text(10))] }
