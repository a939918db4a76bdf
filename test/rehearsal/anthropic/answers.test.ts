import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { playReplies, textReply } from '../../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../../src/rehearsal/deferred.ts'
import { ask, clientOf, rehearse } from './rehearsal.ts'

const weatherTool = { name: 'weather', input_schema: { type: 'object' as const } }

describe('answers without streaming', () => {
  test('the default script echoes the last user text', async () => {
    const server = await rehearse()

    const message = await clientOf(server).messages.create(ask('hello'))

    expect(message).toMatchObject({
      role: 'assistant',
      model: 'rehearsal-model',
      content: [{ type: 'text', text: 'echo hello' }],
      stop_reason: 'end_turn',
    })
    expect(server.ledger.requests()).toMatchObject([{ messages: [{ role: 'user', content: 'hello' }] }])
  })

  test('a tool round trip is accepted and the stop reason follows the blocks', async () => {
    const script = playReplies(
      {
        blocks: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', name: 'weather', input: { city: 'Bonn' } },
        ],
      },
      textReply('Rain.', { stopReason: 'max_tokens' }),
    )
    const server = await rehearse({ script })
    const client = clientOf(server)
    const first = await client.messages.create({ ...ask('weather?'), tools: [weatherTool] })
    const call = first.content.find((block) => block.type === 'tool_use')

    const second = await client.messages.create({
      ...ask('weather?'),
      tools: [weatherTool],
      messages: [
        { role: 'user', content: 'weather?' },
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'rain' }] },
      ],
    })

    expect(first.stop_reason).toBe('tool_use')
    expect(second).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'Rain.' }] })
  })

  test('an error reply has the status, the type and retry-after, and the SDK retries it', async () => {
    const overloaded = { error: { status: 529, type: 'overloaded_error', message: 'Overloaded', retryAfterSeconds: 0 } }
    const server = await rehearse({ script: playReplies(overloaded, textReply('there')) })

    await expect(clientOf(server).messages.create(ask('x'))).rejects.toMatchObject({ status: 529 })
    server.setScript(playReplies(textReply('there')))
    expect((await clientOf(server, 1).messages.create(ask('x'))).content).toMatchObject([{ text: 'there' }])
    expect(server.ledger.count((entry) => entry.kind === 'refused')).toBe(1)
  })
})

describe('streamed answers', () => {
  test('carry the events of the API in order and add up to the message', async () => {
    const script = playReplies({
      blocks: [
        { type: 'thinking', thinking: 'A city in Germany.' },
        { type: 'text', text: 'Looking it up now.' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bonn', days: 3 } },
      ],
      split: (text) => [text.slice(0, 5), text.slice(5)],
      usage: { input_tokens: 7, output_tokens: 9 },
    })
    const server = await rehearse({ script })
    const stream = clientOf(server).messages.stream({ ...ask('weather?'), tools: [weatherTool] })
    const seen: string[] = []
    stream.on('streamEvent', (event) =>
      seen.push('delta' in event && 'type' in event.delta ? event.delta.type : event.type),
    )

    expect(await stream.finalMessage()).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'A city in Germany.', signature: expect.stringMatching(/./) },
        { type: 'text', text: 'Looking it up now.' },
        { type: 'tool_use', id: 'toolu_1', input: { city: 'Bonn', days: 3 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, output_tokens: 9 },
    })
    expect(seen.join(' ')).toBe(
      'message_start content_block_start thinking_delta thinking_delta signature_delta content_block_stop ' +
        'content_block_start text_delta text_delta content_block_stop ' +
        'content_block_start input_json_delta input_json_delta input_json_delta content_block_stop ' +
        'message_delta message_stop',
    )
  })

  test('write each event with its name, and a ping in the first block', async () => {
    const server = await rehearse({ script: playReplies(textReply('hi', { stopReason: 'refusal' })) })
    const response = await fetch(`${server.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...ask('x'), stream: true }),
    })

    const events = (await response.text()).trimEnd().split('\n\n')

    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(events.map((event) => event.split('\n')[0])).toEqual(
      'message_start content_block_start ping content_block_delta content_block_stop message_delta message_stop'
        .split(' ')
        .map((name) => `event: ${name}`),
    )
    expect(events[5]).toContain('"stop_reason":"refusal"')
  })

  test('stop at a hold until it is released', async () => {
    const gate = createGate()
    const script = playReplies(
      textReply('one two', { split: (text) => text.split(' '), holds: [{ beforeDelta: 1, gate }] }),
    )
    const server = await rehearse({ script })
    const stream = clientOf(server).messages.stream(ask('x'))
    let text = ''
    stream.on('text', (piece) => {
      text += piece
    })

    await Promise.all([gate.reached, stream.emitted('text')])
    expect(text).toBe('one')
    gate.release()
    await stream.finalMessage()

    expect(text).toBe('onetwo')
  })

  test('an error event after 200 reaches the client as an error after the text so far', async () => {
    const interrupt = { kind: 'error', afterDelta: 1, type: 'overloaded_error', message: 'Overloaded' } as const
    const server = await rehearse({ script: playReplies(textReply('a long enough text', { interrupt })) })
    const stream = clientOf(server).messages.stream(ask('x'))
    const pieces: string[] = []
    stream.on('text', (piece) => pieces.push(piece))

    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError)
    expect(pieces).toEqual(['a long enoug'])
    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'error', deltas: 1 })
  })

  test('a cut connection ends the stream with an error', async () => {
    const interrupt = { kind: 'cut', afterDelta: 1 } as const
    const server = await rehearse({ script: playReplies(textReply('a long enough text', { interrupt })) })

    await expect(clientOf(server).messages.stream(ask('x')).finalMessage()).rejects.toThrow()
    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'cut', deltas: 1 })
  })

  test('a stall lasts until the client gives up', async () => {
    const interrupt = { kind: 'stall', afterDelta: 1 } as const
    const server = await rehearse({ script: playReplies(textReply('a long enough text', { interrupt })) })
    const stream = clientOf(server).messages.stream(ask('x'))

    await stream.emitted('text')
    stream.abort()

    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError)
    expect(await server.ledger.nextEnded()).toMatchObject({ how: 'stalled', deltas: 1 })
  })

  test('close ends a stalled stream and leaves nothing open', async () => {
    const interrupt = { kind: 'stall', afterDelta: 0 } as const
    const server = await rehearse({ script: playReplies(textReply('text', { interrupt })) })
    const failed = expect(clientOf(server).messages.stream(ask('x')).finalMessage()).rejects.toThrow()
    await server.ledger.nextAccepted()

    await server.close()

    await failed
  })
})

describe('faults', () => {
  test('an answer dropped after the request was accepted is asked for again by the SDK', async () => {
    const server = await rehearse()
    server.faults.add({ action: { kind: 'drop', when: 'after' } })

    await clientOf(server, 1).messages.create(ask('x'))

    expect(server.ledger.requests()).toHaveLength(2)
  })

  test('a request replaced before the effect never reaches the script', async () => {
    const server = await rehearse()
    server.faults.add({ action: { kind: 'answer', when: 'before', status: 502, body: '<html>Bad Gateway</html>' } })

    await expect(clientOf(server).messages.create(ask('x'))).rejects.toMatchObject({ status: 502 })
    expect(server.ledger.requests()).toHaveLength(0)
  })
})
