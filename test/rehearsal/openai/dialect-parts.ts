import { expect } from 'vitest'
import type { OpenAiServer, OpenAiServerOptions } from '../../../src/rehearsal/openai/server.ts'
import { rehearse } from './rehearsal.ts'

export const user = { role: 'user', content: 'hi' }
export const look = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
export const call = (id = 'c12345678', more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
})
export const asking = (more: object = {}, ...calls: object[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.length > 0 ? calls : [call()],
  ...more,
})
export const result = (id = 'c12345678') => ({ role: 'tool', tool_call_id: id, content: 'seen' })
export const picture = {
  role: 'user',
  content: [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,iVBORw0K${'A'.repeat(40)}` } },
  ],
}
export const system = { role: 'system', content: 'Be brief.' }
export const withMessages = (...messages: object[]) => ({ model: 'm', messages, tools: [look] })

/** Posts a body; returns the status and the body of the answer. */
export async function posted(server: OpenAiServer, body: object): Promise<readonly [status: number, body: unknown]> {
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}` },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return [response.status, text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text]
}

/** The same to a server of its own. */
export async function answerOf(options: OpenAiServerOptions, body: object): Promise<readonly [number, unknown]> {
  return posted(await rehearse(options), body)
}

/** A sentence that has these words. */
export const said = (words: string) => expect.stringContaining(words)
