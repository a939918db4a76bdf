import { describe, expect, it } from 'vitest'
import { buildRequest, claudeName, type PlacedBlock } from '../../../src/agent/models/anthropic-request.ts'
import { createTraitBook, type Trait } from '../../../src/agent/models/traits.ts'
import { textContent } from '../../../src/core/content.ts'
import type { ModelMessage, ModelRequest } from '../../../src/core/model.ts'
import { call } from '../turns.ts'

const user = (text: string): ModelMessage => ({ role: 'user', content: textContent(text) })
const thought = (thinking: string): PlacedBlock => ({
  type: 'thought',
  block: { type: 'thinking', thinking, signature: 's' },
})
const layout: readonly PlacedBlock[] = [
  thought('one'),
  { type: 'text', length: 5 },
  { type: 'call' },
  thought('two'),
  { type: 'call' },
]
const turn = (model: string, text = 'Look.', data: readonly PlacedBlock[] = layout): ModelMessage[] => [
  user('hi'),
  { role: 'assistant', text, calls: [call('a', 'look'), call('b', 'look')], opaque: { model, tokens: 9, data } },
  { role: 'tool', results: ['a', 'b'].map((id) => ({ id, content: textContent('fine'), isError: false })) },
]

function built(model: string, more: Partial<ModelRequest> = {}, traits: readonly Trait[] = []) {
  const id = `anthropic/${model}`
  const request: ModelRequest = { system: '', messages: [user('hi')], tools: [], maxTokens: 4096, ...more }
  return buildRequest(request, new Map(), { id, model, traits: createTraitBook().of(id, traits) })
}
const kinds = (
  model: string,
  messages: ModelMessage[],
  more: Partial<ModelRequest> = {},
  traits: readonly Trait[] = [],
) =>
  built(model, { messages, ...more }, traits).body.messages[1]?.content.map((block) =>
    'thinking' in block ? block.thinking : block.type,
  )

describe('C26: thoughts of a step go back to their model', () => {
  const model = 'claude-sonnet-5-5'
  const own = `anthropic/${model}`

  it('in their places between text and calls, whether the request asks for thoughts or leaves it to the model', () => {
    const placed = ['one', 'text', 'tool_use', 'two', 'tool_use']
    expect(kinds(model, turn(own))).toEqual(placed)
    expect(kinds(model, turn(own), { thinking: 'low' })).toEqual(placed)
  })

  it('in front, where the text is another than the one that came', () => {
    expect(kinds(model, turn(own, 'Look at this.'))).toEqual(['one', 'two', 'text', 'tool_use', 'tool_use'])
  })

  it.each([
    ['fewer', ['a']],
    ['more', ['a', 'b', 'c']],
  ])('in front, where there are %s calls than came', (_name, ids) => {
    const [first, , last] = turn(own)
    const data = [thought('one'), { type: 'text', length: 5 }, { type: 'call' }, thought('two'), { type: 'call' }]
    const asked: ModelMessage = {
      ...{ role: 'assistant', text: 'Look.', calls: ids.map((id) => call(id, 'look')) },
      opaque: { model: own, tokens: 9, data },
    }
    const messages = [first, asked, last].filter((message) => message !== undefined)
    expect(kinds(model, messages)).toEqual(['one', 'two', 'text', ...ids.map(() => 'tool_use')])
  })

  it('not to another model, not to one that is told not to think, not to one that refuses them', () => {
    const without = ['text', 'tool_use', 'tool_use']
    expect(kinds(model, turn('anthropic/claude-opus-5-5'))).toEqual(without)
    expect(kinds(model, turn(own), { thinking: 'off' })).toEqual(without)
    expect(kinds(model, turn(own), {}, ['no-thoughts-back'])).toEqual(without)
  })

  it('a text of white space between them is left out', () => {
    expect(
      kinds(model, turn(own, '\n', [thought('one'), { type: 'text', length: 1 }, { type: 'call' }, { type: 'call' }])),
    ).toEqual(['one', 'tool_use', 'tool_use'])
  })
})

describe('T37: a thinking level is what the model takes, by whatever name it goes', () => {
  const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, max_tokens: 6144 }
  const enabled = { thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 6144 }
  it.each([
    ['claude-sonnet-5-5', adaptive],
    ['claude-opus-4-6', adaptive],
    ['anthropic/claude-opus-4.7', adaptive],
    ['claude-fable-5', adaptive],
    ['claude-haiku-4-5', enabled],
    ['anthropic/claude-haiku-4.5', enabled],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', enabled],
    ['claude-haiku-4-5@20251001', enabled],
    ['claude-4.5-sonnet', enabled],
    ['anthropic/claude-3.7-sonnet:thinking', enabled],
    ['claude-sonnet-4', enabled],
    ['qwen3:8b', enabled],
  ])('%s', (model, params) => expect(built(model, { thinking: 'low' }).body).toMatchObject(params))

  it.each([
    ['claude-sonnet-5-5', { type: 'disabled' }],
    ['anthropic/claude-fable-5', undefined],
    ['claude-mythos-5-2', undefined],
    ['anthropic/claude-haiku-4.5', undefined],
    ['claude-3-5-haiku-20241022', undefined],
    ['qwen3:8b', undefined],
  ])('%s is told not to think as it can be', (model, thinking) => {
    expect(built(model, { thinking: 'off' }).body.thinking).toEqual(thinking)
  })

  it.each([
    ['claude-new-9', 'low', 'thinks-by-budget', enabled.thinking],
    ['claude-haiku-4-5', 'low', 'thinks-as-it-sees-fit', adaptive.thinking],
    ['claude-new-9', 'off', 'thinks-always', undefined],
    ['qwen3:8b', 'low', 'cannot-think', undefined],
  ] as const)('%s, %s: what a refusal teaches, %s, counts', (model, thinking, trait, expected) => {
    expect(built(model, { thinking }).avoidable.has(trait)).toBe(true)
    expect(built(model, { thinking }, [trait]).body.thinking).toEqual(expected)
  })

  it('C19: a model that takes a number of tokens does not think in a turn with a step of another model', () => {
    const own = turn('anthropic/claude-haiku-4-5')
    expect(built('claude-haiku-4-5', { thinking: 'low', messages: own }).body).toHaveProperty('thinking')
    expect(built('claude-haiku-4-5', { thinking: 'low', messages: turn('openai/gpt-5') }).body).not.toHaveProperty(
      'thinking',
    )
    expect(built('claude-sonnet-5-5', { thinking: 'low', messages: turn('openai/gpt-5') }).body).toMatchObject(adaptive)
  })

  it('a budget fits into the longest answer that the server writes', () => {
    const traits = createTraitBook().of('anthropic/claude-haiku-4-5')
    traits.longestAnswer = 4096
    const request: ModelRequest = { system: '', messages: [user('hi')], tools: [], maxTokens: 4096, thinking: 'high' }
    const { body } = buildRequest(request, new Map(), { id: 'x', model: 'claude-haiku-4-5', traits })
    expect(body).toMatchObject({ max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 3072 } })
  })

  it.each([
    [1_500, undefined],
    [2_047, undefined],
    [2_048, { type: 'enabled', budget_tokens: 1_024 }],
  ])('answers of %i tokens at most: a budget below the least that may be thought is none', (longest, thinking) => {
    const traits = createTraitBook().of('anthropic/claude-haiku-4-5')
    traits.longestAnswer = longest
    const request: ModelRequest = { system: '', messages: [user('hi')], tools: [], maxTokens: 4096, thinking: 'low' }
    const { body } = buildRequest(request, new Map(), { id: 'x', model: 'claude-haiku-4-5', traits })
    expect(body.max_tokens).toBe(longest)
    expect(body.thinking).toEqual(thinking)
  })

  it('a model that is known to think has room for it where no level is set', () => {
    expect(built('qwen3:8b').body.max_tokens).toBe(4_096)
    expect(built('qwen3:8b', {}, ['thinks']).body.max_tokens).toBe(12_288)
  })

  it('a temperature goes out where the model takes one and does not think', () => {
    expect(built('claude-haiku-4-5', { temperature: 0.3 }).body).toMatchObject({ temperature: 0.3 })
    expect(built('anthropic/claude-haiku-4.5', { temperature: 0.3, thinking: 'low' }).body).not.toHaveProperty(
      'temperature',
    )
    expect(built('claude-opus-4-7', { temperature: 0.3 }).body).not.toHaveProperty('temperature')
    expect(built('claude-haiku-4-5', { temperature: 0.3 }, ['no-temperature']).body).not.toHaveProperty('temperature')
  })
})

it.each([
  ['anthropic/claude-haiku-4.5', 'claude-haiku-4-5'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet'],
  ['claude-sonnet-4-5-thinking', 'claude-sonnet-4-5'],
  ['claude-3-7-sonnet-20250219-thinking', 'claude-3-7-sonnet'],
  ['anthropic/claude-opus-4.1-thinking', 'claude-opus-4-1'],
  ['some/other-model', 'some/other-model'],
  ['some/other-model-thinking', 'some/other-model-thinking'],
])('%s is %s', (model, name) => expect(claudeName(model)).toBe(name))

describe('ids and names of calls', () => {
  it('are legal, whoever made the call', () => {
    const id = 'functions.look:0'
    const messages: ModelMessage[] = [
      user('hi'),
      { role: 'assistant', text: '', calls: [call(id, 'note<|channel|>commentary')] },
      { role: 'tool', results: [{ id, content: textContent('fine'), isError: false }] },
    ]
    const [, asked, answered] = built('claude-sonnet-5-5', { messages }).body.messages
    const [use] = asked?.content ?? []
    expect(use).toMatchObject({
      id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/),
      name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
    })
    expect(answered?.content).toMatchObject([{ tool_use_id: use?.type === 'tool_use' ? use.id : '' }])
  })
})
