import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createGate } from '../../../src/rehearsal/deferred.ts'
import { playReplies, REFUSALS, textReply } from '../../../src/rehearsal/openai/script.ts'
import { ask, askStreamed, clientOf, eventsOf, rehearse } from './rehearsal.ts'

const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
]

/** Reads a stream to its end with the SDK; returns the texts as they came. */
async function textsOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>, texts: string[] = []): Promise<string[]> {
  for await (const { choices } of stream) {
    const content = choices[0]?.delta.content
    if (content) texts.push(content)
  }
  return texts
}

describe('answers without streaming', () => {
  test('the default script echoes the last user text', async () => {
    const server = await rehearse()

    const completion = await clientOf(server).chat.completions.create(ask('hello'))

    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'rehearsal-model',
      choices: [{ index: 0, message: { role: 'assistant', content: 'echo hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: expect.any(Number), completion_tokens: 3, prompt_tokens_details: { cached_tokens: 0 } },
    })
    expect(server.ledger.requests()).toMatchObject([{ messages: [{ role: 'user', content: 'hello' }] }])
  })

  test('a tool round trip is accepted and the finish reason follows the parts', async () => {
    const script = playReplies(
      { parts: [{ type: 'tool_call', name: 'weather', arguments: { city: 'Bonn' } }] },
      textReply('Rain.', { finishReason: 'length' }),
    )
    const server = await rehearse({ script })
    const client = clientOf(server)
    const first = await client.chat.completions.create({ ...ask('weather?'), tools })
    const message = first.choices[0]?.message
    const [call] = message?.tool_calls ?? []

    expect(first.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn"}' } })
    const second = await client.chat.completions.create({
      ...ask('weather?'),
      tools,
      messages: [
        { role: 'user', content: 'weather?' },
        message as OpenAI.ChatCompletionMessage,
        { role: 'tool', tool_call_id: call?.id ?? '', content: 'rain' },
      ],
    })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Rain.' } })
  })

  test('a refusal stands beside the content, and usage can be left out', async () => {
    const reply = { parts: [{ type: 'refusal' as const, refusal: 'No.' }], quirks: { noUsage: true } }
    const server = await rehearse({ script: playReplies(reply) })
    const completion = await clientOf(server).chat.completions.create(ask('x'))
    expect(completion.choices[0]?.message).toMatchObject({ content: null, refusal: 'No.' })
    expect(completion.usage).toBeUndefined()
  })

  test('an error reply has status, code and retry-after, and the SDK retries it', async () => {
    const server = await rehearse({ script: playReplies(REFUSALS.rateLimit(0), textReply('there')) })

    await expect(clientOf(server).chat.completions.create(ask('x'))).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
    })
    expect((await clientOf(server, 1).chat.completions.create(ask('x'))).choices).toMatchObject([
      { message: { content: 'there' } },
    ])
    server.setScript(playReplies(REFUSALS.quota))
    await expect(clientOf(server).chat.completions.create(ask('x'))).rejects.toMatchObject({
      code: 'insufficient_quota',
    })
    for (const refusal of [REFUSALS.server, REFUSALS.overloaded]) {
      server.setScript(playReplies(refusal))
      await expect(clientOf(server).chat.completions.create(ask('x'))).rejects.toBeInstanceOf(
        OpenAI.InternalServerError,
      )
    }
  })

  test('models are listed, and found by name', async () => {
    const client = clientOf(await rehearse({ models: ['gpt-5', 'org/local'] }))
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['gpt-5', 'org/local'])
    expect(await client.models.retrieve('org/local')).toMatchObject({ object: 'model' })
    await expect(client.models.retrieve('gone')).rejects.toMatchObject({ code: 'model_not_found' })
  })

  test('a beginning that an earlier prompt had is counted as cached, in steps, by model, for a while', async () => {
    let now = 0
    const server = await rehearse({ now: () => now })
    const client = clientOf(server)
    const cached = async (text: string, model = 'm') =>
      (await client.chat.completions.create({ ...ask(text), model })).usage?.prompt_tokens_details?.cached_tokens
    const long = 'word '.repeat(1000)

    expect(await cached(`${long}one`)).toBe(0)
    expect(await cached(`${long}two`)).toBe(1152)
    expect(await cached(`${long}two`, 'other')).toBe(0)
    expect(await cached('short')).toBe(0)
    now = 600_001
    expect(await cached(`${long}two`)).toBe(0)
  })
})

describe('streamed answers', () => {
  test('carry the chunks of the API in order and add up to the completion', async () => {
    const script = playReplies({
      parts: [
        { type: 'text', text: 'Looking it up now.' },
        { type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Bonn', days: 3 } },
        { type: 'tool_call', id: 'call_2', name: 'weather', arguments: {} },
      ],
      split: (text) => [text.slice(0, 5), text.slice(5)],
      usage: { prompt_tokens: 7, completion_tokens: 9, cached_tokens: 4 },
    })
    const server = await rehearse({ script })
    const stream = clientOf(server).chat.completions.stream({ ...askStreamed('weather?'), tools })

    const completion = await stream.finalChatCompletion()

    expect(completion.choices[0]).toMatchObject({
      message: {
        content: 'Looking it up now.',
        tool_calls: [
          { id: 'call_1', function: { arguments: '{"city":"Bonn","days":3}' } },
          { id: 'call_2', function: { arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    })
    expect(completion.usage).toMatchObject({ total_tokens: 16, prompt_tokens_details: { cached_tokens: 4 } })
  })

  test('begin with the role, end with the reason, the usage without choices, and [DONE]', async () => {
    const reply = { parts: [{ type: 'tool_call' as const, id: 'c', name: 'w', arguments: '{"a":' }] }
    const server = await rehearse({ script: playReplies({ ...reply, split: (text) => [text] }) })

    const events = await eventsOf(server, askStreamed('x'))

    const choice = (delta: object, finish_reason: string | null = null) => [
      { index: 0, delta, logprobs: null, finish_reason },
    ]
    expect(events).toMatchObject([
      { object: 'chat.completion.chunk', usage: null, choices: choice({ role: 'assistant', content: null }) },
      {
        choices: choice({
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'w', arguments: '' } }],
        }),
      },
      { choices: choice({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }) },
      { choices: choice({}, 'tool_calls') },
      { choices: [], usage: { total_tokens: expect.any(Number) } },
      '[DONE]',
    ])
    const without = await eventsOf(server, { ...ask('x'), stream: true })
    expect(JSON.stringify(without)).not.toContain('usage')
  })

  test('play what compatible servers do otherwise', async () => {
    const reply = {
      parts: [
        { type: 'reasoning' as const, reasoning: 'Hm.' },
        { type: 'tool_call' as const, name: 'w', arguments: { a: 1 } },
        { type: 'tool_call' as const, name: 'w', arguments: {} },
      ],
    }
    const server = await rehearse({ keyless: true })
    const played = async (quirks: object) => {
      server.setScript(playReplies({ ...reply, quirks }))
      return JSON.stringify(await eventsOf(server, askStreamed('x')))
    }

    const bare = await played({ wholeArguments: true, noIndex: true, noIds: true, noDone: true, noUsage: true })
    expect(bare).toContain('"tool_calls":[{"type":"function","function":{"name":"w","arguments":"{\\"a\\":1}"}}]')
    expect(bare).toContain('"reasoning_content":"Hm."')
    expect(bare).not.toMatch(/DONE|usage|call_rehearsal/)
    expect(await played({ sameIndex: true, finishReason: 'eos' })).not.toMatch(/"index":1|"finish_reason":"tool_calls"/)
  })

  test('an empty answer, a refusal and a filter', async () => {
    const server = await rehearse({ script: playReplies({ parts: [] }) })
    expect(await eventsOf(server, { ...ask('x'), stream: true })).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: '' } }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      '[DONE]',
    ])
    server.setScript(playReplies({ parts: [{ type: 'refusal', refusal: 'No.' }], finishReason: 'content_filter' }))
    expect(await eventsOf(server, { ...ask('x'), stream: true })).toMatchObject([
      {},
      { choices: [{ delta: { refusal: 'No.' } }] },
      { choices: [{ finish_reason: 'content_filter' }] },
      '[DONE]',
    ])
  })

  test('stop at a hold until it is released', async () => {
    const gate = createGate()
    const holds = [{ beforeDelta: 1, gate }]
    const server = await rehearse({
      script: playReplies(textReply('one two', { split: (text) => text.split(' '), holds })),
    })
    const texts: string[] = []
    const read = textsOf(await clientOf(server).chat.completions.create(askStreamed('x')), texts)

    await gate.reached
    gate.release()

    expect(await read).toEqual(['one', 'two'])
    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'complete', deltas: 2 })
  })

  test('an error object in the stream reaches the client as an error after the text so far', async () => {
    const data = { error: { code: 'server_error', message: 'Provider disconnected' }, choices: [] }
    const interrupt = { kind: 'error', afterDelta: 1, data } as const
    const server = await rehearse({ script: playReplies(textReply('a long enough text', { interrupt })) })
    const texts: string[] = []

    const read = textsOf(await clientOf(server).chat.completions.create(askStreamed('x')), texts)

    await expect(read).rejects.toMatchObject({ message: 'Provider disconnected' })
    expect(texts).toEqual(['a long enoug'])
    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'error', deltas: 1 })
  })

  test('a cut connection is an error to the client, an early end in order is not', async () => {
    const server = await rehearse()
    const read = async (kind: 'cut' | 'end') => {
      server.setScript(playReplies(textReply('a long enough text', { interrupt: { kind, afterDelta: 1 } })))
      return textsOf(await clientOf(server).chat.completions.create(askStreamed('x')))
    }

    await expect(read('cut')).rejects.toThrow()
    expect(await read('end')).toEqual(['a long enoug'])
  })

  test('a stall lasts until the client gives up', async () => {
    const interrupt = { kind: 'stall', afterDelta: 1 } as const
    const server = await rehearse({ script: playReplies(textReply('a long enough text', { interrupt })) })
    const stream = await clientOf(server).chat.completions.create(askStreamed('x'))

    for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()

    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'stalled', deltas: 1 })
  })

  test('close ends a stalled stream and leaves nothing open', async () => {
    const interrupt = { kind: 'stall', afterDelta: 0 } as const
    const server = await rehearse({ script: playReplies(textReply('text', { interrupt })) })
    const failed = expect(
      clientOf(server)
        .chat.completions.create(askStreamed('x'))
        .then((stream) => textsOf(stream)),
    ).rejects.toThrow()
    await server.ledger.nextAccepted()

    await server.close()

    await failed
  })
})

describe('faults', () => {
  test('an answer dropped after the request was accepted is asked for again by the SDK', async () => {
    const server = await rehearse()
    server.faults.add({ action: { kind: 'drop', when: 'after' } })

    await clientOf(server, 1).chat.completions.create(ask('x'))

    expect(server.ledger.requests()).toHaveLength(2)
  })

  test('a request replaced before the effect never reaches the script', async () => {
    const server = await rehearse()
    server.faults.add({ action: { kind: 'answer', when: 'before', status: 502, body: '<html>Bad Gateway</html>' } })

    await expect(clientOf(server).chat.completions.create(ask('x'))).rejects.toMatchObject({ status: 502 })
    expect(server.ledger.requests()).toHaveLength(0)
  })
})
