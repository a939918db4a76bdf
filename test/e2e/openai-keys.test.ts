import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { DOT } from '../fakes/pictures.ts'
import { type ChatHouse, startChatHouse, user } from './chat-clients.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: [] }]
const echo: Script = (request) => textReply(`echo ${lastUserText(request)}`)
const house = (script: Script = echo) =>
  startChatHouse({ script, config: { agents, http: { host: '127.0.0.1', port: 0, hosts: [], origins: [] } } })

const KEY = { headers: { 'idempotency-key': 'the-same' } }
const asked = { model: 'main', metadata: { session: 'bob' }, messages: [user('hello')] }
const timesAsked = ({ anthropic }: ChatHouse): number => anthropic?.ledger.requests().length ?? 0
const contentOf = ({ choices }: OpenAI.ChatCompletion) => choices[0]?.message.content

async function wordsOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let words = ''
  for await (const { choices } of stream) words += choices[0]?.delta.content ?? ''
  return words
}

describe('a chat completion with an Idempotency-Key', () => {
  it('F-K08: says its words once, and is answered as before, whole and as a stream', async () => {
    const home = await house()
    const client = await home.client()
    expect(contentOf(await client.chat.completions.create(asked, KEY))).toBe('echo hello')
    expect(contentOf(await client.chat.completions.create(asked, KEY))).toBe('echo hello')
    expect(timesAsked(home)).toBe(1)
    const stream = { ...asked, stream: true } as const
    await expect(client.chat.completions.create(stream, KEY)).rejects.toMatchObject({ status: 400, code: 'conflict' })
    const other = { headers: { 'idempotency-key': 'another' } }
    expect(await wordsOf(await client.chat.completions.create(stream, other))).toBe('echo hello')
    expect(await wordsOf(await client.chat.completions.create(stream, other))).toBe('echo hello')
    expect(timesAsked(home)).toBe(2)
  })

  it('F-K08: that is sent five times at once has one effect, and every stream gets the whole answer', async () => {
    const home = await house()
    const client = await home.client()
    const all = Array.from({ length: 5 }, () => client.chat.completions.create({ ...asked, stream: true }, KEY))
    const words = await Promise.all(all.map(async (one) => wordsOf(await one)))
    expect(words).toEqual(Array.from({ length: 5 }, () => 'echo hello'))
    const { total } = await home.daemon.operator.sessions.history('api:ui:bob', { limit: 200 })
    expect(timesAsked(home)).toBe(1)
    expect(total).toBeGreaterThan(0)
  })

  it('F-K08, T20: whose reader left is answered when it comes again', async () => {
    const gate = createGate()
    const home = await house(() => textReply('one two three four', { holds: [{ beforeDelta: 1, gate }] }))
    const client = await home.client()
    const stream = await client.chat.completions.create({ ...asked, stream: true }, KEY)
    for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()
    const again = client.chat.completions.create({ ...asked, stream: true }, KEY)
    gate.release()
    expect(await wordsOf(await again)).toBe('one two three four')
    expect(timesAsked(home)).toBe(1)
  })

  it('F-K08: that was said and stopped is said once, and its repeat is told the same', async () => {
    const gate = createGate()
    const home = await house(() => textReply('one two three four', { holds: [{ beforeDelta: 1, gate }] }))
    const client = await home.client()
    const { sessions } = home.daemon.operator
    const stopped = expect(client.chat.completions.create(asked, KEY)).rejects.toMatchObject({ status: 400 })
    await gate.reached
    await sessions.cancel('api:ui:bob')
    gate.release()
    await stopped
    const { total } = await sessions.history('api:ui:bob', { limit: 200 })
    await expect(client.chat.completions.create(asked, KEY)).rejects.toMatchObject({ status: 400, code: 'aborted' })
    expect(timesAsked(home)).toBe(1)
    expect(await sessions.history('api:ui:bob', { limit: 200 })).toMatchObject({ total })
  })

  it('F-K08: may be as long as one without', async () => {
    const home = await house()
    const client = await home.client()
    const text = { type: 'text', text: 'look' } as const
    const url = `data:image/png;base64,${Buffer.from(DOT).toString('base64')}`
    // More than any other request may hold.
    const padding = 'x'.repeat(1_500_000)
    const messages = [{ role: 'user' as const, content: [text, { type: 'image_url' as const, image_url: { url } }] }]
    const long = { ...asked, messages, metadata: { ...asked.metadata, padding } }
    expect(contentOf(await client.chat.completions.create(long, KEY))).toContain('look')
    expect(contentOf(await client.chat.completions.create(long, KEY))).toContain('look')
    expect(timesAsked(home)).toBe(1)
  })

  it('without a session, where nothing is kept, is answered anew, and says nothing in any session', async () => {
    const home = await house()
    const client = await home.client()
    const { metadata: _metadata, ...unkept } = asked
    expect(contentOf(await client.chat.completions.create(unkept, KEY))).toBe('echo hello')
    expect(contentOf(await client.chat.completions.create(unkept, KEY))).toBe('echo hello')
    expect(timesAsked(home)).toBe(2)
    expect(await home.sessions()).toEqual([])
  })
})
