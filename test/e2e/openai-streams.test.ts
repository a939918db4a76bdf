import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { playReplies, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startChatHouse, user } from './chat-clients.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['time'] }]
const house = (script: Script) =>
  startChatHouse({ script, config: { agents, http: { host: '127.0.0.1', port: 0, hosts: [], origins: [] } } })

/** Each with a session and without one. */
const KEPT = [
  ['with a session', { metadata: { session: 'bob' } }],
  ['without', {}],
] as const

interface Read {
  readonly texts: readonly string[]
  readonly chunks: readonly OpenAI.ChatCompletionChunk[]
}

async function read(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<Read> {
  const chunks: OpenAI.ChatCompletionChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return { chunks, texts: chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []) }
}

describe.each(KEPT)('a streamed answer %s', (_, more) => {
  const asked = { model: 'main', messages: [user('hi')], stream: true as const, ...more }

  it('S48: comes as it grows, and ends with its reason and its cost', async () => {
    const gate = createGate()
    const home = await house(() => textReply('one two three four five six', { holds: [{ beforeDelta: 2, gate }] }))
    const stream = await (await home.client()).chat.completions.create({
      ...asked,
      stream_options: { include_usage: true },
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) {
      chunks.push(chunk)
      // The rest of the answer is written once its beginning was read.
      if (chunk.choices[0]?.delta.content) gate.release()
    }
    expect(chunks[0]?.choices).toMatchObject([{ index: 0, delta: { role: 'assistant', content: '' } }])
    const texts = chunks.flatMap(({ choices }) => choices[0]?.delta.content || [])
    expect(texts.join('')).toBe('one two three four five six')
    expect(texts.length).toBeGreaterThan(1)
    expect(chunks.at(-2)?.choices).toMatchObject([{ delta: {}, finish_reason: 'stop' }])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['chat.completion.chunk']))
  })

  it('S31, S48: never shows a part of a marker, wherever it is cut', async () => {
    const texts = ['before <NO_REPLY> after', '<NO_REPLY>', 'yes<EMPTY_RESPONSE>', '<NO_REPLY: they chat>', 'a < b']
    const replies = texts.map((text): Reply => textReply(text, { split: (whole) => [...whole], delayMs: 2 }))
    const [first, ...others] = replies
    const home = await house(playReplies(first ?? textReply(''), ...others))
    const client = await home.client()
    const answers: string[] = []
    for (const text of texts) {
      const { texts: pieces } = await read(await client.chat.completions.create(asked))
      const answer = pieces.join('')
      answers.push(answer)
      expect([text, answer]).toEqual([text, expect.not.stringMatching(/NO_REP|EMPTY_|<N/)])
    }
    expect(answers).toEqual(['before  after', '', 'yes', '', 'a < b'])
  })

  it('what is said along with a tool stays above the answer', async () => {
    const home = await house(
      playReplies(
        {
          blocks: [
            { type: 'text', text: 'Let me look at the clock.' },
            { type: 'tool_use', name: 'current_time', input: {} },
          ],
        },
        textReply('It is late.'),
      ),
    )
    const { texts } = await read(await (await home.client()).chat.completions.create(asked))
    expect(texts.join('')).toBe('Let me look at the clock.\n\nIt is late.')
  })

  it('a failure before the first word is answered by its status, a later one ends the stream as an error', async () => {
    const interrupt = { kind: 'error', afterDelta: 3, type: 'invalid_request_error', message: 'no' } as const
    const long = 'one two three four five six seven eight nine ten'
    const home = await house(
      playReplies(
        { error: { status: 400, type: 'invalid_request_error' } },
        textReply(long, { interrupt, delayMs: 60 }),
      ),
    )
    const client = await home.client()
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      ...{ status: 400, code: 'model_invalid_request', type: 'server_error' },
    })
    const pieces: string[] = []
    const reading = async () => {
      for await (const { choices } of await client.chat.completions.create(asked))
        pieces.push(choices[0]?.delta.content ?? '')
    }
    await expect(reading()).rejects.toBeInstanceOf(OpenAI.APIError)
    expect(pieces.join('')).toMatch(/^one two/)
  })

  it('ends when its token is revoked', async () => {
    const gate = createGate()
    const home = await house(() => textReply('one two three four', { holds: [{ beforeDelta: 1, gate }] }))
    const stream = await (await home.client()).chat.completions.create(asked)
    const reading = async () => {
      for await (const { choices } of stream)
        if (choices[0]?.delta.content) {
          const [token] = await home.daemon.operator.tokens.list()
          await home.daemon.operator.tokens.revoke(token?.id ?? '')
        }
    }
    await expect(reading()).rejects.toMatchObject({ code: 'invalid_api_key' })
    gate.release()
  })
})

it('T20: a streamed answer continues when its reader leaves', async () => {
  const gate = createGate()
  const home = await house(() => textReply('one two three four', { holds: [{ beforeDelta: 1, gate }] }))
  const asked = { model: 'main', metadata: { session: 'bob' }, messages: [user('hi')], stream: true as const }
  const stream = await (await home.client()).chat.completions.create(asked)
  for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()
  gate.release()
  await home.daemon.operator.sessions.post('api:ui:bob', { text: 'and?' })
  const { events } = await home.daemon.operator.sessions.history('api:ui:bob', { limit: 200 })
  expect(events.map(({ text }) => text)).toContain('one two three four')
})

it('of a session only the turn that took the message is streamed', async () => {
  const [first, second] = [createGate(), createGate()]
  const gates = [first, second]
  const home = await house((_, turn) =>
    textReply(`answer ${turn} with some more words`, { holds: [{ beforeDelta: 2, gate: gates[turn] ?? second }] }),
  )
  const before = home.daemon.operator.sessions.post('api:ui:bob', { text: 'from the desk' })
  await first.reached
  const asked = { model: 'main', metadata: { session: 'bob' }, messages: [user('hi')], stream: true as const }
  const client = await home.client()
  const reading = client.chat.completions.create(asked).then(read)
  // The message waits behind the turn of the desk, which then ends with more text.
  await expect.poll(async () => (await home.daemon.operator.status()).waiting).toBe(1)
  first.release()
  await before
  second.release()
  expect((await reading).texts.join('')).toBe('answer 1 with some more words')
})
