import Anthropic from '@anthropic-ai/sdk'
import { onTestFinished } from 'vitest'
import type { AnthropicServer, AnthropicServerOptions } from '../../../src/rehearsal/anthropic/server.ts'
import { startAnthropicServer } from '../../../src/rehearsal/anthropic/server.ts'

/** A server for one test, closed at its end. */
export async function rehearse(options: AnthropicServerOptions = {}): Promise<AnthropicServer> {
  const server = await startAnthropicServer(options)
  onTestFinished(() => server.close())
  return server
}

/** The real SDK. */
export function clientOf(server: AnthropicServer, maxRetries = 0): Anthropic {
  return new Anthropic({ baseURL: server.baseUrl, apiKey: server.apiKey, maxRetries })
}

export function ask(text: string): Anthropic.MessageCreateParamsNonStreaming {
  return { model: 'rehearsal-model', max_tokens: 100, messages: [{ role: 'user', content: text }] }
}

/** Posts any body without a client library; returns "status type: message" of a refusal, or "accepted". */
export async function post(server: AnthropicServer, body: unknown, headers: object = {}): Promise<string> {
  const response = await fetch(`${server.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': server.apiKey, 'anthropic-version': '2023-06-01', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const { error } = (await response.json()) as { error?: { type: string; message: string } }
  return error === undefined ? 'accepted' : `${response.status} ${error.type}: ${error.message}`
}
