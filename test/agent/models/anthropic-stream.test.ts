import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createAnthropic } from '../../../src/agent/models/anthropic.ts'
import { beginReading, endOf, readEvent } from '../../../src/agent/models/anthropic-stream.ts'
import { textContent } from '../../../src/core/content.ts'
import type { ModelEvent, ModelRequest } from '../../../src/core/model.ts'
import { type AnthropicServer, startAnthropicServer } from '../../../src/rehearsal/anthropic/server.ts'
import { noMedia } from '../../fakes/media.ts'
import { movedClock } from '../moved-clock.ts'
import { never } from '../turns.ts'

let server: AnthropicServer
beforeEach(async () => {
  server = await startAnthropicServer()
})
afterEach(() => server.close())

const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }
const request: ModelRequest = {
  ...{ system: '', messages: [{ role: 'user', content: textContent('hello') }], tools: [look], maxTokens: 100 },
}

async function eventsOf(events: readonly { readonly type: string }[]): Promise<ModelEvent[]> {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const headers = { 'content-type': 'text/event-stream' }
  server.faults.add({ action: { kind: 'answer', when: 'before', status: 200, body, headers } })
  const { apiKey, baseUrl } = server
  const model = await createAnthropic({ apiKey, baseUrl, model: 'm', clock: movedClock(), media: noMedia })
  const got: ModelEvent[] = []
  for await (const event of model.stream(request, never())) got.push(event)
  return got
}

const begin = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 0 } } }
const start = (index: number, content_block: unknown) => ({ type: 'content_block_start', index, content_block })
const tool = (index: number, more: object = { input: {} }) =>
  start(index, { type: 'tool_use', id: `t${index}`, name: 'look', ...more })
const add = (index: number, delta: unknown) => ({ type: 'content_block_delta', index, delta })
const json = (index: number, partial_json: unknown) => add(index, { type: 'input_json_delta', partial_json })
const text = (index: number, words: string) => add(index, { type: 'text_delta', text: words })
const think = (index: number, thinking: string) => add(index, { type: 'thinking_delta', thinking })
const close = (index: number) => ({ type: 'content_block_stop', index })
const finish = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } })
const stop = { type: 'message_stop' }

const callsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call.args] : []))
const saidIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
const opaqueOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'end' ? [event.opaque?.data] : []))[0]

describe('blocks of the Messages API, as servers send them', () => {
  it.each([
    ['arguments in the first event', [tool(0, { input: { at: 1 } }), close(0)], [{ at: 1 }]],
    ['arguments in the first event as a text', [tool(0, { input: '{"at":1}' }), close(0)], [{ at: 1 }]],
    ['a first event without input', [tool(0, {}), json(0, '{"at":1}'), close(0)], [{ at: 1 }]],
    ['a block without its end', [tool(0), json(0, '{"at":1}')], [{ at: 1 }]],
    [
      'pieces of two calls by turns',
      [tool(0), tool(1), json(0, '{"at"'), json(1, '{"at"'), json(1, ':2}'), json(0, ':1}'), close(1), close(0)],
      [{ at: 1 }, { at: 2 }],
    ],
    ['a beginning with each piece', [tool(0), json(0, '{"at"'), tool(0), json(0, ':1}'), close(0)], [{ at: 1 }]],
    ['an index that does not begin with 0', [tool(4), json(4, '{"at":1}')], [{ at: 1 }]],
    [
      'a block of a kind that nobody knows',
      [start(0, { type: 'fallback', from: {} }), close(0), tool(1, { input: { at: 1 } })],
      [{ at: 1 }],
    ],
  ])('%s', async (_name, blocks, expected) => {
    const events = await eventsOf([begin, ...blocks, finish('tool_use'), stop])
    expect(callsOf(events)).toEqual(expected)
    expect(events.at(-1)).toMatchObject({ type: 'end', stop: 'tools' })
  })

  it('calls that end with end_turn are calls', async () => {
    expect((await eventsOf([begin, tool(0), finish('end_turn'), stop])).at(-1)).toMatchObject({ stop: 'tools' })
  })

  it('a text whose block never began, and one that begins with its words, are said', async () => {
    expect(saidIn(await eventsOf([begin, text(0, 'Hel'), text(0, 'lo'), finish('end_turn'), stop]))).toBe('Hello')
    expect(
      saidIn(await eventsOf([begin, start(0, { type: 'text', text: 'Hel' }), text(0, 'lo'), finish('end_turn')])),
    ).toBe('Hello')
  })

  it('an answer that begins a second time is the second one alone', async () => {
    const first = [begin, start(0, { type: 'text', text: '' }), text(0, 'Let me'), tool(1), json(1, '{"a')]
    const second = [begin, start(0, { type: 'text', text: '' }), text(0, 'Hello'), close(0), finish('end_turn'), stop]
    const events = await eventsOf([...first, ...second])
    expect(events).toMatchObject([
      { delta: 'Let me' },
      { type: 'retract' },
      { delta: 'Hello' },
      { type: 'end', stop: 'end' },
    ])
    expect((await eventsOf([begin, ...second])).map(({ type }) => type)).toEqual(['text', 'end'])
  })

  it('the end of the message without a reason is an answer where there is one', async () => {
    expect((await eventsOf([begin, text(0, 'Hello'), stop])).at(-1)).toMatchObject({ stop: 'end' })
    await expect(eventsOf([begin, stop])).rejects.toMatchObject({ code: 'model_failed' })
    await expect(eventsOf([begin, text(0, 'Hello')])).rejects.toMatchObject({ code: 'model_failed' })
  })

  it('a window that is full cuts an answer, and is a conversation too long where there is none', async () => {
    const full = finish('model_context_window_exceeded')
    expect((await eventsOf([begin, text(0, 'Hello'), full, stop])).at(-1)).toMatchObject({ stop: 'length' })
    await expect(eventsOf([begin, full, stop])).rejects.toMatchObject({ code: 'model_context_length' })
  })

  it('an id that other servers refuse is one of ours', async () => {
    for (const id of ['functions.look:0', '', undefined, 'x'.repeat(50)]) {
      const [called] = await eventsOf([begin, tool(0, { id, input: {} }), finish('tool_use')])
      expect(called).toMatchObject({ call: { id: expect.stringMatching(/^call_[0-9a-f]{32}$/) } })
    }
  })

  it('C26: thoughts keep their places between texts and calls, as they came', async () => {
    const events = await eventsOf([
      begin,
      ...[
        start(0, { type: 'thinking', thinking: '', signature: '' }),
        think(0, 'First'),
        add(0, { type: 'signature_delta', signature: 's' }),
        close(0),
      ],
      ...[start(1, { type: 'text', text: '' }), text(1, 'Look.'), close(1)],
      ...[tool(2, { input: { at: 1 }, caller: { type: 'direct' } }), close(2)],
      ...[start(3, { type: 'redacted_thinking', data: 'd' }), close(3)],
      ...[tool(4, { input: { at: 2 } }), close(4), finish('tool_use'), stop],
    ])
    expect(opaqueOf(events)).toEqual([
      { type: 'thought', block: { type: 'thinking', thinking: 'First', signature: 's' } },
      { type: 'text', length: 5 },
      { type: 'call', fields: { caller: { type: 'direct' } } },
      { type: 'thought', block: { type: 'redacted_thinking', data: 'd' } },
      { type: 'call' },
    ])
  })

  it('C26: a thought without signature, as servers that imitate the API send it, gets none', async () => {
    const events = await eventsOf([
      begin,
      start(0, { type: 'thinking', thinking: 'Hm' }),
      think(0, '.'),
      tool(1),
      finish('tool_use'),
    ])
    expect(opaqueOf(events)).toEqual([
      { type: 'thought', block: { type: 'thinking', thinking: 'Hm.' } },
      { type: 'call' },
    ])
  })

  it.each([
    ['as a text', '{"at":1}', { at: 1 }],
    ['as a record', { at: 1 }, { at: 1 }],
    ['as an empty text', '', {}],
    ['as nothing', null, {}],
    ['as a text that is no JSON', 'at the gate', 'at the gate'],
  ])('arguments that come whole, %s, are read once', (_name, input, args) => {
    const place = { name: 'some', kind: 'anthropic', baseUrl: 'http://127.0.0.1', apiKey: '' } as const
    const reading = beginReading('some/m')
    for (const event of [begin, tool(0, { input }), finish('tool_use')]) readEvent(event, place, reading)
    expect(callsOf(endOf(reading, { id: 'some/m', server: place }))).toEqual([args])
  })

  it.each([
    ['null', { stop_reason: null }],
    ['missing', {}],
    ['without a delta', undefined],
  ])('a reason for the end stays where an earlier and a later one is %s', async (_name, delta) => {
    const other = { type: 'message_delta', delta, usage: { output_tokens: 9 } }
    expect((await eventsOf([begin, text(0, 'Hello'), other, finish('max_tokens'), other, stop])).at(-1)).toMatchObject({
      stop: 'length',
    })
  })

  it.each([
    ['a thought', start(0, { type: 'thinking', thinking: 'Hm.' })],
    ['a thought that nobody can read', start(0, { type: 'redacted_thinking', data: 'd' })],
  ])('%s and the end of the message without a reason are no answer', async (_name, block) => {
    await expect(eventsOf([begin, block, stop])).rejects.toMatchObject({ code: 'model_failed' })
  })

  it('a text that begins twice is one, of its whole length', async () => {
    const twice = [start(0, { type: 'text', text: 'Hel' }), start(0, { type: 'text', text: '' }), text(0, 'lo')]
    const events = await eventsOf([begin, ...twice, tool(1), finish('tool_use')])
    expect(events.flatMap((event) => (event.type === 'text' ? event.delta : []))).toEqual(['Hel', 'lo'])
    expect(opaqueOf(events)).toEqual([{ type: 'text', length: 5 }, { type: 'call' }])
  })

  it('more calls than any model writes are a failure that another try does not mend', async () => {
    const calls = (count: number) => [
      begin,
      ...Array.from({ length: count }, (_, index) => tool(index)),
      finish('tool_use'),
    ]
    expect(callsOf(await eventsOf(calls(256)))).toHaveLength(256)
    expect(callsOf(await eventsOf([...calls(200), ...calls(200)]))).toHaveLength(200)
    await expect(eventsOf(calls(257))).rejects.toMatchObject({ code: 'model_failed', advice: { retry: false } })
  })
})

const said = { type: 'text', text: '' }
const called = (id: unknown, more: object = {}) => ({ type: 'tool_use', id, name: 'look', input: {}, ...more })
const unplaced = ({ index: _index, ...event }: { type: string; index: number }) => event

describe('blocks of gateways that imitate the Messages API', () => {
  const textBlock = [start(0, said), text(0, 'Hm.')]
  const callBlock = [start(0, called('a')), json(0, '{"at":1}')]
  const secondCall = [start(0, called('b')), json(0, '{"at":2}')]
  it.each([
    ['a call at the index of a text that has stopped', [...textBlock, close(0), ...callBlock, close(0)], ['text', 1]],
    ['a call at the index of a text without its end', [...textBlock, ...callBlock], ['text', 1]],
    ['a text at the index of a call that has stopped', [...callBlock, close(0), ...textBlock, close(0)], [1, 'text']],
    ['a text at the index of a call without its end', [...callBlock, ...textBlock], [1, 'text']],
    ['two calls at one index, the first stopped', [...callBlock, close(0), ...secondCall, close(0)], [1, 2]],
    ['two calls at one index without their ends', [...callBlock, ...secondCall], [1, 2]],
    [
      'two calls of one id at one index, the first stopped',
      [...callBlock, close(0), start(0, called('a')), json(0, '{"at":2}')],
      [1, 2],
    ],
    [
      'calls, texts and thoughts, all at one index',
      [...[start(0, { type: 'thinking', thinking: '' }), think(0, 'So')], ...textBlock, ...callBlock, ...secondCall],
      ['thought', 'text', 1, 2],
    ],
    ['a call and a text without an index', [...callBlock, ...textBlock].map(unplaced), [1, 'text']],
    ['two calls without an index', [...callBlock, ...secondCall].map(unplaced), [1, 2]],
    [
      'two calls without an index, their arguments whole',
      [start(0, called('a', { input: { at: 1 } })), start(0, called('b', { input: { at: 2 } }))].map(unplaced),
      [1, 2],
    ],
    [
      'two calls without index and id, their arguments whole',
      [start(0, called('', { input: { at: 1 } })), start(0, called(null, { input: { at: 2 } }))].map(unplaced),
      [1, 2],
    ],
    [
      'two calls of one name without ids, a text between them, all at one index without their ends',
      [start(0, called('')), json(0, '{"at":1}'), ...textBlock, start(0, called('')), json(0, '{"at":2}')],
      [1, 'text', 2],
    ],
    [
      'a call that begins with each piece, without id and name from the second on',
      [start(0, called('a')), json(0, '{"at"'), start(0, { type: 'tool_use' }), json(0, ':1}')],
      [1],
    ],
    [
      'a text among the pieces of a call',
      [start(0, called('a')), json(0, '{"at"'), text(0, 'Hm.'), start(0, called('a')), json(0, ':1}')],
      [1, 'text'],
    ],
    [
      'a text and the last piece of a call that has stopped',
      [start(0, called('a')), json(0, '{"at"'), close(0), ...textBlock, json(0, ':1}')],
      [1, 'text'],
    ],
    [
      'a call, and pieces for a tool of the server at its index',
      [...callBlock, close(0), start(0, { type: 'server_tool_use', id: 's', name: 'search' }), json(0, '{}')],
      [1],
    ],
    ['a call whose piece is a record', [start(0, called('a')), json(0, { at: 1 })], [1]],
    ['a call and pieces of odd types', [...callBlock, json(0, null), json(0, 3), add(0, null), add(0, 'x')], [1]],
  ])('%s: each is one block, in its order', async (_name, blocks, expected) => {
    const events = await eventsOf([begin, ...blocks, finish('tool_use'), stop])
    const args = callsOf(events)
    const placed = (opaqueOf(events) as { type: string }[]).map(({ type }) => (type === 'call' ? args.shift() : type))
    expect(placed).toEqual(expected.map((block) => (typeof block === 'number' ? { at: block } : block)))
    expect(saidIn(events)).toBe(expected.includes('text') ? 'Hm.' : '')
    expect(events.at(-1)).toMatchObject({ type: 'end', stop: expected.some(Number) ? 'tools' : 'end' })
  })

  it('C26: words and thoughts that come into a block of the other kind are blocks of their own kinds', async () => {
    const events = await eventsOf([
      begin,
      ...[start(0, { type: 'thinking', thinking: '' }), think(0, 'So'), text(0, 'Hel')],
      ...[add(0, { type: 'signature_delta', signature: 's' }), think(0, '.'), think(0, ''), text(0, 'lo')],
      ...[start(1, said), think(1, 'More'), text(1, '!'), tool(2), finish('tool_use')],
    ])
    expect(saidIn(events)).toBe('Hello!')
    expect(opaqueOf(events)).toEqual([
      { type: 'thought', block: { type: 'thinking', thinking: 'So', signature: 's' } },
      { type: 'text', length: 3 },
      { type: 'thought', block: { type: 'thinking', thinking: '.' } },
      { type: 'text', length: 2 },
      { type: 'text', length: 0 },
      { type: 'thought', block: { type: 'thinking', thinking: 'More' } },
      { type: 'text', length: 1 },
      { type: 'call' },
    ])
  })

  it('C26: hidden thoughts at one index are as many as there are, however often each of them begins', async () => {
    const hidden = (data: string) => start(0, { type: 'redacted_thinking', data })
    const events = await eventsOf([begin, hidden('a'), hidden('a'), hidden('b'), tool(1), finish('tool_use')])
    expect(opaqueOf(events)).toEqual([
      { type: 'thought', block: { type: 'redacted_thinking', data: 'a' } },
      { type: 'thought', block: { type: 'redacted_thinking', data: 'b' } },
      { type: 'call' },
    ])
  })

  it.each([
    ['text', start(0, said), text(0, 'a'), 'a'.repeat(300)],
    ['thought', start(0, { type: 'thinking', thinking: '' }), think(0, 'a'), ''],
  ])('a %s that begins and stops with each piece is no failure', async (_type, begun, piece, words) => {
    const pieces = Array.from({ length: 300 }, () => [begun, piece, close(0)]).flat()
    const events = await eventsOf([begin, ...pieces, tool(0), finish('tool_use')])
    expect(saidIn(events)).toBe(words)
    expect(callsOf(events)).toEqual([{}])
  })

  const odd = { toString: 1, valueOf: 1 }
  it.each([
    ['a block that is null', start(0, null)],
    ['a block that is missing', { type: 'content_block_start', index: 0 }],
    ['a block that is a list', start(0, [])],
    ['a block of a type that is a record', start(0, { type: odd })],
    ['a text that is a record', start(0, { type: 'text', text: odd })],
    ['a piece of a text that is a record', add(0, { type: 'text_delta', text: odd })],
    ['a thought that is a record', start(0, { type: 'thinking', thinking: odd, signature: odd })],
    ['a piece of a thought that is a record', add(0, { type: 'thinking_delta', thinking: odd })],
    ['a signature that is a record', add(0, { type: 'signature_delta', signature: odd })],
    ['a hidden thought that is a record', start(0, { type: 'redacted_thinking', data: odd })],
    ['a model that is a record', { type: 'message_start', message: { model: odd } }],
  ])('%s says nothing, and the words behind it are said', async (_name, event) => {
    const events = await eventsOf([begin, event, text(0, 'Hello'), finish('end_turn'), stop])
    expect(saidIn(events)).toBe('Hello')
    expect(events.at(-1)).toMatchObject({ type: 'end', stop: 'end', model: 'anthropic/m' })
  })

  it('id and name of a call that are records are an id of ours and no name', async () => {
    const [call] = await eventsOf([begin, tool(0, { id: odd, name: odd }), finish('tool_use')])
    expect(call).toMatchObject({ call: { id: expect.stringMatching(/^call_[0-9a-f]{32}$/) } })
  })

  it('a reason that names calls where there are none ends the words, and without words the answer is empty', async () => {
    expect((await eventsOf([begin, text(0, 'Hello'), finish('tool_use'), stop])).at(-1)).toMatchObject({ stop: 'end' })
    await expect(eventsOf([begin, finish('tool_use'), stop])).rejects.toMatchObject({
      ...{ code: 'model_empty', advice: { retry: true } },
    })
  })
})

it('an answer counts once its message has stopped, though the gateway leaves the stream open and pings', async () => {
  const words = [begin, text(0, 'Hello'), finish('end_turn'), stop]
  const body = words.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  let closed = (): void => {}
  const left = new Promise<void>((resolve) => {
    closed = resolve
  })
  const gateway = createServer((sent, response) => {
    sent.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(body)
    const ping = setInterval(() => response.write('event: ping\ndata: {"type":"ping"}\n\n'), 20)
    response.on('close', () => {
      clearInterval(ping)
      closed()
    })
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void gateway.close())
  const baseUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const model = await createAnthropic({ apiKey: 'key', baseUrl, model: 'm', clock: movedClock(), media: noMedia })
  const got: ModelEvent[] = []
  for await (const event of model.stream(request, never())) got.push(event)
  expect(got.map(({ type }) => type)).toEqual(['text', 'end'])
  await left
})
