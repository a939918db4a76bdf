import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOpenAi } from '../../../src/agent/models/openai.ts'
import type { StepFields } from '../../../src/agent/models/openai-request.ts'
import { textContent } from '../../../src/core/content.ts'
import type { ModelEvent, ModelRequest } from '../../../src/core/model.ts'
import { type OpenAiServer, startOpenAiServer } from '../../../src/rehearsal/openai/server.ts'
import { noMedia } from '../../fakes/media.ts'
import { movedClock } from '../moved-clock.ts'
import { call, never } from '../turns.ts'

let server: OpenAiServer
beforeEach(async () => {
  server = await startOpenAiServer()
})
afterEach(() => server.close())

const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }
const request: ModelRequest = {
  ...{ system: '', messages: [{ role: 'user', content: textContent('hello') }], tools: [look], maxTokens: 100 },
}

async function eventsOf(body: string): Promise<ModelEvent[]> {
  const headers = { 'content-type': 'text/event-stream' }
  server.faults.add({ action: { kind: 'answer', when: 'before', status: 200, body, headers } })
  const { apiKey, baseUrl } = server
  const model = await createOpenAi({ apiKey, baseUrl, model: 'm', clock: movedClock(), media: noMedia })
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, never())) events.push(event)
  return events
}

const sse = (chunks: readonly object[], end = 'data: [DONE]\n\n'): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + end
const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const piece = (fields: object, finish: string | null = null) => delta({ tool_calls: [fields] }, finish)
const fn = (name: string | undefined, args?: unknown) => ({
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})
const callsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [[event.call.name, event.call.args]] : []))
const one = [['look', { at: 1 }]]
const two = [
  ['look', { at: 1 }],
  ['look', { at: 2 }],
]

describe('pieces of calls, as servers send them', () => {
  it.each([
    [
      'each piece with another id, only the first with a name',
      [
        piece({ index: 0, id: 'a', ...fn('look', '') }),
        piece({ index: 0, id: 'b', ...fn(undefined, '{"at"') }),
        piece({ index: 0, id: 'c', ...fn('', ':1}') }),
      ],
      one,
    ],
    [
      'arguments under the next index',
      [piece({ index: 0, id: 'a', ...fn('look', '') }), piece({ index: 1, ...fn(undefined, '{"at":1}') })],
      one,
    ],
    [
      'the first index is 1',
      [piece({ index: 1, id: 'a', ...fn('look', '') }), piece({ index: 1, ...fn(undefined, '{"at":1}') })],
      one,
    ],
    [
      'an empty id and an empty name behind',
      [piece({ index: 0, id: 'a', ...fn('look', '{"at"') }), piece({ index: 0, id: '', ...fn('', ':1}') })],
      one,
    ],
    [
      'the name again with each piece',
      [piece({ index: 0, id: 'a', ...fn('look', '{"at"') }), piece({ index: 0, id: 'a', ...fn('look', ':1}') })],
      one,
    ],
    [
      'the name again, and another id, with each piece',
      [piece({ index: 0, id: 'a', ...fn('look', '{"at"') }), piece({ index: 0, id: 'b', ...fn('look', ':1}') })],
      one,
    ],
    ['arguments as an object', [piece({ index: 0, id: 'a', ...fn('look', { at: 1 }) })], one],
    [
      'a null for the arguments',
      [piece({ index: 0, id: 'a', ...fn('look', null) }), piece({ index: 0, ...fn(undefined, '{"at":1}') })],
      one,
    ],
    [
      'the name behind the arguments',
      [piece({ index: 0, id: 'a', ...fn(undefined, '{"at":1}') }), piece({ index: 0, ...fn('look') })],
      one,
    ],
    [
      'the older form',
      [delta({ function_call: { name: 'look', arguments: '{"at"' } }), delta({ function_call: { arguments: ':1}' } })],
      one,
    ],
    [
      'two without index, whole, with ids',
      [piece({ id: 'a', ...fn('look', '{"at":1}') }), piece({ id: 'b', ...fn('look', '{"at":2}') })],
      two,
    ],
    [
      'two with the index 0 and ids of their own',
      [
        piece({ index: 0, id: 'a', ...fn('look', '{"at":1}') }),
        piece({ index: 0, id: 'b', ...fn('look', '{"at":2}') }),
      ],
      two,
    ],
    ['two without index and id', [piece(fn('look', '{"at":1}')), piece(fn('look', '{"at":2}'))], two],
    [
      'two by turns',
      [
        piece({ index: 0, id: 'a', ...fn('look', '') }),
        piece({ index: 1, id: 'b', ...fn('look', '') }),
        piece({ index: 0, ...fn(undefined, '{"at"') }),
        piece({ index: 1, ...fn(undefined, '{"at"') }),
        piece({ index: 0, ...fn(undefined, ':1}') }),
        piece({ index: 1, ...fn(undefined, ':2}') }),
      ],
      two,
    ],
    ['a name of nothing', [piece({ index: 0, id: 'a', ...fn('', '{"at":1}') })], [['', { at: 1 }]]],
    [
      'the id of a call under the index of another',
      [
        piece({ index: 0, id: 'a', ...fn('look', '{"at":') }),
        piece({ index: 1, id: 'b', ...fn('look', '{"at":') }),
        piece({ index: 0, id: 'b', ...fn(undefined, '2}') }),
        piece({ index: 1, id: 'a', ...fn(undefined, '1}') }),
      ],
      two,
    ],
    [
      'neither id nor index behind two calls',
      [
        piece({ index: 0, id: 'a', ...fn('look', '{"at":1}') }),
        piece({ index: 1, id: 'b', ...fn('look', '{"at"') }),
        piece(fn(undefined, ':2}')),
      ],
      two,
    ],
    [
      'neither id nor index behind a call without an index and one with it',
      [
        piece({ id: 'a', ...fn('look', '{"at":1}') }),
        piece({ index: 0, id: 'b', ...fn('look', '{"at"') }),
        piece(fn(undefined, ':2}')),
      ],
      two,
    ],
    [
      'no id behind a call without an id and one with it',
      [
        piece({ index: 0, ...fn('look', '{"at":1}') }),
        piece({ index: 1, id: 'b', ...fn('look', '{"at"') }),
        piece({ index: 1, ...fn(undefined, ':2}') }),
      ],
      two,
    ],
    [
      'the name, with the same id, behind the arguments',
      [piece({ index: 0, id: 'a', ...fn(undefined, '{"at":1}') }), piece({ index: 0, id: 'a', ...fn('look') })],
      one,
    ],
    [
      'the name and the id again behind whole arguments',
      [piece({ index: 0, id: 'a', ...fn('look', '{"at":1}') }), piece({ index: 0, id: 'a', ...fn('look', '') })],
      one,
    ],
    [
      'the name and the id again, without index, behind whole arguments',
      [piece({ id: 'a', ...fn('look', '{"at":1}') }), piece({ id: 'a', ...fn('look', '') })],
      one,
    ],
    [
      'the name, with an id, behind arguments without one',
      [piece({ index: 0, ...fn(undefined, '{"at":1}') }), piece({ index: 0, id: 'a', ...fn('look') })],
      one,
    ],
    [
      'the name without an id behind arguments with one',
      [piece({ index: 0, id: 'a', ...fn(undefined, '{"at":1}') }), piece({ index: 0, id: '', ...fn('look') })],
      one,
    ],
    [
      'a name with another id behind arguments without a name',
      [
        piece({ index: 0, id: 'a', ...fn(undefined, '{"at":1}') }),
        piece({ index: 0, id: 'b', ...fn('look', '{"at":2}') }),
      ],
      [
        ['', { at: 1 }],
        ['look', { at: 2 }],
      ],
    ],
    [
      'the same name again while no arguments have come',
      [piece({ index: 0, id: 'a', ...fn('look', '') }), piece({ index: 0, id: 'b', ...fn('look', '{"at":2}') })],
      [
        ['look', {}],
        ['look', { at: 2 }],
      ],
    ],
    [
      'the same name again behind a line break',
      [
        piece({ index: 0, id: 'a', ...fn('look', '{"at":1}\n') }),
        piece({ index: 0, id: 'b', ...fn('look', '{"at":2}') }),
      ],
      two,
    ],
    [
      'another name while the arguments are not complete',
      [piece({ index: 0, id: 'a', ...fn('look', '{"at":') }), piece({ index: 0, id: 'b', ...fn('gaze', '{"at":2}') })],
      [
        ['look', '{"at":'],
        ['gaze', { at: 2 }],
      ],
    ],
    [
      'the same name again without index while the arguments are not complete',
      [piece({ id: 'a', ...fn('look', '{"at":') }), piece({ id: 'b', ...fn('look', '{"at":2}') })],
      [
        ['look', '{"at":'],
        ['look', { at: 2 }],
      ],
    ],
  ])('%s', async (_name, chunks, expected) => {
    expect(callsOf(await eventsOf(sse([...chunks, delta({}, 'tool_calls')])))).toEqual(expected)
  })
})

describe('the end of a stream', () => {
  const said = delta({ content: 'All of it.' })
  it.each([
    ['[DONE] without any finish reason, all words there', sse([said]), 'end'],
    [
      '[DONE] without any finish reason, a call there',
      sse([piece({ index: 0, id: 'a', ...fn('look', '{}') })]),
      'tools',
    ],
    ['a finish reason of Gemini for calls', sse([piece({ id: 'a', ...fn('look', '{}') }), delta({}, 'stop')]), 'tools'],
    ['a finish reason in capitals', sse([said, delta({}, 'MAX_TOKENS')]), 'length'],
    ['words and the reason in one chunk', sse([delta({ content: 'x' }, 'stop')]), 'end'],
    ['a window that is full', sse([said, delta({}, 'model_context_window_exceeded')]), 'length'],
    ['an answer that a filter took', sse([delta({}, 'sensitive')]), 'refused'],
    [
      'an empty first chunk of Azure',
      sse([{ choices: [], id: '', model: '', prompt_filter_results: [] }, said, delta({}, 'stop')]),
      'end',
    ],
    ['choices that are null', sse([{ choices: null }, said, delta({}, 'stop')]), 'end'],
    ['a delta that is null', sse([{ choices: [{ delta: null }] }, said, delta({}, 'stop')]), 'end'],
  ])('%s is an answer', async (_name, body, stop) => {
    expect((await eventsOf(body)).at(-1)).toMatchObject({ type: 'end', stop })
  })

  it.each([
    ['neither reason nor [DONE]', sse([said], ''), 'model_failed'],
    ['[DONE] and nothing else', sse([delta({ content: '' })]), 'model_failed'],
    ['a reason that says it broke', sse([said, delta({}, 'network_error')]), 'model_failed'],
    [
      'an upstream that broke',
      sse([{ choices: [{ delta: { content: '' }, finish_reason: 'stop', native_finish_reason: 'network_error' }] }]),
      'model_failed',
    ],
    [
      'a call that Gemini could not read',
      sse([delta({}, 'function_call_filter: MALFORMED_FUNCTION_CALL')]),
      'model_bad_call',
    ],
    ['a full window and no word', sse([delta({}, 'model_context_window_exceeded')]), 'model_context_length'],
    [
      'an error in a form of its own',
      sse([{ choices: null, error_type: 'BadRequestError', error_message: 'no' }]),
      'model_',
    ],
  ])('%s is a failure', async (_name, body, code) => {
    await expect(eventsOf(body)).rejects.toMatchObject({ code: expect.stringContaining(code) })
  })
})

describe('usage', () => {
  const usageOf = async (usage: object, at: (usage: object) => object = (own) => ({ choices: [], usage: own })) => {
    const end = (await eventsOf(sse([delta({ content: 'x' }, 'stop'), at(usage)]))).at(-1)
    return end?.type === 'end' ? end.usage : undefined
  }

  it.each([
    [
      'of xAI, which counts thoughts beside the answer',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: 340 },
      },
      { input: 12, output: 342 },
    ],
    [
      'of Gemini, which names them nowhere',
      { prompt_tokens: 10, completion_tokens: 6, total_tokens: 105 },
      { input: 10, output: 95 },
    ],
    [
      'without a total',
      { prompt_tokens: 10, completion_tokens: 6, completion_tokens_details: { reasoning_tokens: 89 } },
      { input: 10, output: 95 },
    ],
    [
      'of OpenAI, which counts them among the answer',
      {
        prompt_tokens: 10,
        completion_tokens: 95,
        total_tokens: 105,
        completion_tokens_details: { reasoning_tokens: 89 },
      },
      { input: 10, output: 95 },
    ],
    [
      'of DeepSeek, with a cache of its own name',
      { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 8 },
      { input: 2, output: 1, cacheRead: 8 },
    ],
    [
      'of Kimi, with a cache at the top',
      { prompt_tokens: 10, completion_tokens: 1, cached_tokens: 8 },
      { input: 2, output: 1, cacheRead: 8 },
    ],
    [
      'of a cache that is larger than the prompt',
      { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 8 } },
      { input: 0, output: 1, cacheRead: 3 },
    ],
    ['with nulls', { prompt_tokens: null, completion_tokens: null, total_tokens: null }, { input: 0, output: 0 }],
  ])('%s', async (_name, usage, expected) => {
    expect(await usageOf(usage)).toEqual(expected)
  })

  it('stands in the choice, or under a name of Groq', async () => {
    const own = { prompt_tokens: 3, completion_tokens: 4 }
    const expected = { input: 3, output: 4 }
    expect(await usageOf(own, (usage) => ({ choices: [{ delta: {}, usage }] }))).toEqual(expected)
    expect(await usageOf(own, (usage) => ({ choices: [], x_groq: { id: 'r', usage } }))).toEqual(expected)
  })
})

describe('fields of the server alone (C26)', () => {
  const opaqueOf = async (chunks: readonly object[]) => {
    const events = await eventsOf(
      sse([...chunks, piece({ index: 0, id: 'a', ...fn('look', '{}') }), delta({}, 'tool_calls')]),
    )
    expect(events.filter(({ type }) => type === 'text')).toEqual([])
    const end = events.at(-1)
    return end?.type === 'end' ? (end.opaque?.data as StepFields | undefined) : undefined
  }

  it.each([
    [
      'reasoning_content',
      [delta({ reasoning_content: 'I ' }), delta({ reasoning_content: null }), delta({ reasoning_content: 'see.' })],
      { reasoning_content: 'I see.' },
    ],
    ['an empty thought', [delta({ reasoning_content: '' })], { reasoning_content: '' }],
    ['reasoning', [delta({ reasoning: 'I ' }), delta({ reasoning: 'see.' })], { reasoning: 'I see.' }],
    [
      'reasoning_details in pieces',
      [
        delta({ reasoning_details: [{ type: 'reasoning.text', text: 'I ', index: 0 }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', text: 'see.', index: 0, signature: 's' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd', index: 1 }] }),
      ],
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'I see.', index: 0, signature: 's' },
          { type: 'reasoning.encrypted', data: 'd', index: 1 },
        ],
      },
    ],
    [
      'reasoning_details of several ids',
      [
        delta({ reasoning_details: [{ type: 'reasoning.text', id: 'r1', text: 'I ' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', text: 'see.' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', id: 'r2', text: 'So.' }] }),
      ],
      {
        reasoning_details: [
          { type: 'reasoning.text', id: 'r1', text: 'I see.' },
          { type: 'reasoning.text', id: 'r2', text: 'So.' },
        ],
      },
    ],
    [
      'reasoning_details of several types under one index',
      [
        delta({ reasoning_details: [{ type: 'reasoning.summary', index: 0, summary: 'I see.' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.encrypted', index: 0, data: 'd' }] }),
      ],
      {
        reasoning_details: [
          { type: 'reasoning.summary', index: 0, summary: 'I see.' },
          { type: 'reasoning.encrypted', index: 0, data: 'd' },
        ],
      },
    ],
    [
      'reasoning_details of several indexes',
      [
        delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'I see.' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', index: 1, text: 'So.' }] }),
      ],
      {
        reasoning_details: [
          { type: 'reasoning.text', index: 0, text: 'I see.' },
          { type: 'reasoning.text', index: 1, text: 'So.' },
        ],
      },
    ],
    [
      'reasoning_details of which a later piece is empty',
      [
        delta({ reasoning_details: [{ type: 'reasoning.text', text: 'I see.', signature: 's', format: 'f' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', text: null, signature: '', format: null }] }),
      ],
      { reasoning_details: [{ type: 'reasoning.text', text: 'I see.', signature: 's', format: 'f' }] },
    ],
    [
      'reasoning_details that are no records',
      [delta({ reasoning_details: ['a'] }), delta({ reasoning_details: ['b', 'b'] })],
      { reasoning_details: ['a', 'b', 'b'] },
    ],
    [
      'records in pieces',
      [delta({ provider_specific_fields: { a: 1, b: 1 } }), delta({ provider_specific_fields: { b: 2 } })],
      { provider_specific_fields: { a: 1, b: 2 } },
    ],
    [
      'a record with nothing behind it',
      [delta({ thought: { a: 1 } }), delta({ thought: '' }), delta({ thought: null })],
      { thought: { a: 1 } },
    ],
    ['a value that is replaced', [delta({ thinking: false }), delta({ thinking: true })], { thinking: true }],
  ])('%s is kept whole and said nowhere', async (_name, chunks, message) => {
    expect(await opaqueOf(chunks)).toEqual({ message, parts: [], calls: [null] })
  })

  it('parts of a content that are thoughts are kept as parts', async () => {
    const think = (text: string) => delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })
    expect((await opaqueOf([think('I '), think('see.')]))?.parts).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'I see.' }] },
    ])
  })

  it('a signature that comes by itself is that of the first call', async () => {
    const extra_content = { google: { thought_signature: 's' } }
    expect(await opaqueOf([delta({ extra_content })])).toEqual({ message: {}, parts: [], calls: [{ extra_content }] })
  })

  it('whatever a server puts on a call is kept with it, also from a later piece, and so is an id that others refuse', async () => {
    const extra_content = { google: { thought_signature: 's' } }
    const events = await eventsOf(
      sse([
        piece({ index: 0, id: 'functions.look:0', ...fn('look', '{}') }),
        piece({ index: 0, extra_content }),
        piece({ index: 1, id: 'b', ...fn('look', '{}') }, 'tool_calls'),
      ]),
    )
    const end = events.at(-1)
    expect(end).toMatchObject({
      opaque: { model: 'openai/m', data: { calls: [{ id: 'functions.look:0', extra_content }, null] } },
    })
    expect(events[0]).toMatchObject({ type: 'tool_call', call: { id: expect.stringMatching(/^call_[0-9a-f]{32}$/) } })
    expect(events[1]).toEqual({ type: 'tool_call', call: call('b', 'look') })
  })

  it('an answer without any has none', async () => {
    const end = (await eventsOf(sse([delta({ content: 'x' }, 'stop')]))).at(-1)
    expect(end).not.toHaveProperty('opaque')
  })

  const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 40 } }
  it.each([
    ['a thought', 40, delta({ reasoning_content: 'Hm.' })],
    ['a part that is a thought', 40, delta({ content: [{ type: 'thinking', thinking: 'Hm.' }] })],
    ['no thought', 0, delta({})],
  ])('%s stands for %i tokens', async (_name, tokens, chunk) => {
    const called = piece({ index: 0, id: 'a', ...fn('look', '{}'), caller: 'x' }, 'tool_calls')
    expect((await eventsOf(sse([chunk, called, usage]))).at(-1)).toMatchObject({ opaque: { tokens } })
  })
})

describe('who has answered', () => {
  it.each([
    ['of the last chunk that says it', ['first', 'second'], 'second'],
    ['of an earlier chunk where the last ones are empty', ['real', '', null], 'real'],
    ['of the request where none says it', ['', undefined], 'm'],
    ['cut where it is endless', ['x'.repeat(5_000)], 'x'.repeat(200)],
  ])('has the name %s', async (_name, names, expected) => {
    const chunks = names.map((model) => ({ model, ...delta({ content: 'x' }) }))
    expect((await eventsOf(sse([...chunks, delta({}, 'stop')]))).at(-1)).toMatchObject({ model: `openai/${expected}` })
  })
})

it('more calls than any model makes are a failure that another try does not mend', async () => {
  const chunks = (calls: number) => [
    ...Array.from({ length: calls }, (_, index) => piece({ index, id: `c${index}`, ...fn('look', '{}') })),
    delta({}, 'tool_calls'),
  ]
  expect(callsOf(await eventsOf(sse(chunks(256))))).toHaveLength(256)
  await expect(eventsOf(sse(chunks(257)))).rejects.toMatchObject({ code: 'model_failed', advice: { retry: false } })
})
