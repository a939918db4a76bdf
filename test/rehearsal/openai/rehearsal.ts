import OpenAI from 'openai'
import { onTestFinished } from 'vitest'
import type { OpenAiServer, OpenAiServerOptions } from '../../../src/rehearsal/openai/server.ts'
import { startOpenAiServer } from '../../../src/rehearsal/openai/server.ts'

/** A server for one test, closed at its end. */
export async function rehearse(options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const server = await startOpenAiServer(options)
  onTestFinished(() => server.close())
  return server
}

/** The real SDK. */
export function clientOf(server: OpenAiServer, maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL: server.baseUrl, apiKey: server.apiKey, maxRetries, logLevel: 'off' })
}

export function ask(text: string): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return { model: 'rehearsal-model', messages: [{ role: 'user', content: text }] }
}

/** The same as a stream, with its usage at the end. */
export function askStreamed(text: string): OpenAI.ChatCompletionCreateParamsStreaming {
  return { ...ask(text), stream: true, stream_options: { include_usage: true } }
}

/** Posts any body without a client library; returns "status code param: message" of a refusal, or "accepted". */
export async function post(server: OpenAiServer, body: unknown, headers: object = {}): Promise<string> {
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const { error } = (await response.json()) as { error?: { code: string | null; param: string; message: string } }
  return error === undefined ? 'accepted' : `${response.status} ${error.code} ${error.param}: ${error.message}`
}

/** The data of each event of a streamed answer, parsed but for the last. */
export async function eventsOf(server: OpenAiServer, body: object): Promise<unknown[]> {
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}` },
    body: JSON.stringify(body),
  })
  const events = (await response.text()).trimEnd().split('\n\n')
  return events.map((event) => (event === 'data: [DONE]' ? '[DONE]' : JSON.parse(event.replace(/^data: /, ''))))
}
