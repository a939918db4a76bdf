import { describe, expect, it } from 'vitest'
import { buildRequest, type StepFields } from '../../../src/agent/models/openai-request.ts'
import { createTraitBook, type Trait } from '../../../src/agent/models/traits.ts'
import { type Content, textContent } from '../../../src/core/content.ts'
import type { MediaId } from '../../../src/core/ids.ts'
import type { ModelMessage, ModelRequest, ModelToolCall } from '../../../src/core/model.ts'
import { call } from '../turns.ts'

const ID = 'some/model'
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }
const user = (text: string): ModelMessage => ({ role: 'user', content: textContent(text) })
const step = (
  calls: readonly ModelToolCall[],
  more: { text?: string; own?: Partial<StepFields>; model?: string } = {},
): ModelMessage => {
  const { text = '', own, model = ID } = more
  const data = { message: {}, parts: [], calls: calls.map(() => null), ...own }
  return { role: 'assistant', text, calls, ...(own ? { opaque: { model, tokens: 1, data } } : {}) }
}
const results = (ids: readonly string[], content: Content = textContent('fine')): ModelMessage => ({
  role: 'tool',
  results: ids.map((id) => ({ id, content, isError: false })),
})

function built(messages: readonly ModelMessage[], traits: readonly Trait[] = [], more: Partial<ModelRequest> = {}) {
  const request: ModelRequest = { system: '', messages, tools: [look], maxTokens: 1_000, ...more }
  const images = new Map([['picture' as MediaId, 'AAAA']])
  const asking = { id: ID, model: 'model', traits: createTraitBook().of(ID, traits) }
  return buildRequest(request, images, asking)
}
const wire = (...args: Parameters<typeof built>) => built(...args).body.messages
const roles = (...args: Parameters<typeof built>) => wire(...args).map(({ role }) => role)

describe('the order of roles is one that every server takes', () => {
  const turn = [user('look'), step([call('a', 'look')]), results(['a'])]

  it('between the results of tools and a person stands the assistant', () => {
    expect(roles(turn)).toEqual(['user', 'assistant', 'tool'])
    expect(roles([...turn, user('and now?')])).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })

  it('so it does before a picture that a tool has returned, with which a later message is one', () => {
    const picture = { type: 'image', media: 'picture' as MediaId, mime: 'image/png', size: 3 } as const
    const messages = wire([user('look'), step([call('a', 'look')]), results(['a'], [picture]), user('and now?')])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(messages.at(-1)?.content).toMatchObject([{ type: 'text' }, { type: 'image_url' }, { text: 'and now?' }])
  })

  it('what one side says in a row is one message; a conversation begins with a person', () => {
    const said = (text: string): ModelMessage => ({ role: 'assistant', text, calls: [] })
    expect(
      wire([user('a'), user('b'), said('c'), said('d'), step([call('1', 'look')], { text: 'e' }), results(['1'])]),
    ).toMatchObject([
      { role: 'user', content: 'a\nb' },
      { role: 'assistant', content: 'c\n\nd\n\ne', tool_calls: [{ id: '1' }] },
      { role: 'tool' },
    ])
    expect(roles([said('Good morning.'), user('hello')])).toEqual(['user', 'assistant', 'user'])
  })
})

describe('what only a server understands goes back to its model', () => {
  const own = {
    message: { reasoning_content: 'I see.' },
    calls: [{ extra_content: { google: { thought_signature: 's' } }, id: 'functions.look:0' }],
  }
  const turn = (model: string) => [user('look'), step([call('call_1', 'look')], { own, model }), results(['call_1'])]

  it('thoughts and fields of calls as they came, the id of the call among them', () => {
    expect(wire(turn(ID)).slice(1)).toMatchObject([
      {
        reasoning_content: 'I see.',
        tool_calls: [{ id: 'functions.look:0', extra_content: { google: { thought_signature: 's' } } }],
      },
      { role: 'tool', tool_call_id: 'functions.look:0' },
    ])
  })

  it('and to no other model', () => {
    expect(JSON.stringify(wire(turn('other/model')))).not.toMatch(/I see|thought_signature|functions/)
  })

  it('two calls with one id of the server stay two', () => {
    const again = { calls: [{ id: 'call:0' }] }
    const messages = wire([
      user('x'),
      step([call('a', 'look')], { own: again }),
      results(['a']),
      step([call('b', 'look')], { own: again }),
      results(['b']),
    ])
    const ids = messages
      .flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : []))
      .map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(messages.flatMap((message) => (message.role === 'tool' ? message.tool_call_id : []))).toEqual(ids)
  })

  it('parts of a content stand before its text', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const [, said] = wire([
      user('x'),
      step([call('a', 'look')], { text: 'Yes.', own: { parts: [thinking] } }),
      results(['a']),
    ])
    expect(said?.content).toEqual([thinking, { type: 'text', text: 'Yes.' }])
  })

  it('a server that refuses its own thoughts, or its own fields, is not given them again', () => {
    const { avoidable } = built(turn(ID))
    expect([...avoidable]).toEqual(expect.arrayContaining(['no-thoughts-back', 'own-fields-refused']))
    expect(JSON.stringify(wire(turn(ID), ['no-thoughts-back']))).not.toContain('I see')
    expect(JSON.stringify(wire(turn(ID), ['own-fields-refused']))).not.toContain('thought_signature')
  })

  it('a server that demands thoughts or signatures gets them for what others have called', () => {
    const foreign = [user('look'), step([call('a', 'look'), call('b', 'look')]), results(['a', 'b']), user('so?')]
    expect([...built(foreign).avoidable]).toEqual(expect.arrayContaining(['thoughts-with-calls', 'signed-calls']))
    const demanded = wire(foreign, ['thoughts-with-calls']).filter(({ role }) => role === 'assistant')
    expect(demanded.map((message) => 'reasoning_content' in message && message.reasoning_content)).toEqual(['', ''])
    const [, signed] = wire(foreign, ['signed-calls'])
    const signature = { google: { thought_signature: 'skip_thought_signature_validator' } }
    expect(signed).toMatchObject({ tool_calls: [{ extra_content: signature }, { id: 'b' }] })
    expect(JSON.stringify(signed).match(/"thought_signature"/g)).toHaveLength(1)
  })
})

describe('ids and names of calls are fit for whoever reads them', () => {
  const idsOf = (id: string, traits: readonly Trait[] = []) => {
    const [, asked, answered] = wire([user('x'), step([call(id, 'look')]), results([id])], traits)
    const sent = asked?.role === 'assistant' ? asked.tool_calls?.[0]?.id : undefined
    expect(answered).toMatchObject({ tool_call_id: sent })
    return sent
  }

  it.each(['toolu_01A09q90qw90lq917835lq9', 'call_1', 'a'])('%s stays', (id) => expect(idsOf(id)).toBe(id))

  it.each(['', 'functions.look:0', 'x'.repeat(41), 'ü', 'a|b'])(
    '%j becomes one of OpenAI and Anthropic, the same each time',
    (id) => {
      expect(idsOf(id)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
      expect(idsOf(id)).toBe(idsOf(id))
    },
  )

  it.each(['toolu_01A09q90qw90lq917835lq9', 'call_1', '', 'functions.look:0'])(
    '%j is nine characters for Mistral',
    (id) => {
      expect(idsOf(id, ['nine-character-ids'])).toMatch(/^[a-zA-Z0-9]{9}$/)
      expect(idsOf('gSIMJiOkT', ['nine-character-ids'])).toBe('gSIMJiOkT')
    },
  )

  it.each(['', 'note<|channel|>commentary', 'functions.note', 'ü', 'x'.repeat(99)])(
    'a call by the name %j goes back by a legal one',
    (name) => {
      const [, asked] = wire([user('x'), step([call('a', name)]), results(['a'])])
      expect(asked).toMatchObject({
        tool_calls: [{ function: { name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/) } }],
      })
    },
  )
})

describe('what a server cannot do is left out', () => {
  const foreign = [user('look'), step([call('a', 'look', { at: 1 })], { text: 'Wait.' }), results(['a']), user('so?')]

  it('tools: what others have called is told in words', () => {
    const { body } = built(foreign, ['no-tools'])
    expect(body).not.toHaveProperty('tools')
    expect(body.messages).toEqual([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: 'Wait.\n(I used look with {"at":1}.)' },
      { role: 'user', content: '(a tool) fine\nso?' },
    ])
  })

  it('a system prompt stands in front of what is said first', () => {
    const system = 'Be brief.'
    expect(wire([user('hello')], [], { system })).toEqual([
      { role: 'system', content: system },
      { role: 'user', content: 'hello' },
    ])
    expect(wire([user('hello')], ['no-system'], { system })).toEqual([{ role: 'user', content: 'Be brief.\nhello' }])
    expect(built([user('hello')]).avoidable.has('no-system')).toBe(false)
    expect(built([user('hello')], [], { system }).avoidable.has('no-system')).toBe(true)
  })

  it('pictures are named, and only a request with one can be refused for it', () => {
    const picture = { type: 'image', media: 'picture' as MediaId, mime: 'image/png', size: 3, name: 'a.png' } as const
    const shown: ModelMessage[] = [{ role: 'user', content: [picture] }]
    expect(built(shown).avoidable.has('no-pictures')).toBe(true)
    expect(built([user('hello')]).avoidable.has('no-pictures')).toBe(false)
    expect(wire(shown, ['no-pictures'])).toEqual([{ role: 'user', content: expect.stringContaining('a.png') }])
  })

  it('stream options, an effort, a temperature', () => {
    const asked = { thinking: 'low', temperature: 0.3 } as const
    expect(built([user('x')], [], asked).body).toMatchObject({
      stream_options: {},
      reasoning_effort: 'low',
      temperature: 0.3,
    })
    const { body } = built([user('x')], ['no-usage-option', 'no-effort', 'no-temperature'], asked)
    expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream', 'tools'])
  })
})

describe('the limit of an answer', () => {
  const limit = (traits: readonly Trait[], more: Partial<ModelRequest> = {}) => {
    const { max_tokens, max_completion_tokens } = built([user('x')], traits, more).body
    return { max_tokens, max_completion_tokens }
  }

  it('is given by the name that the server takes; a refusal of one teaches the other', () => {
    expect(limit([])).toEqual({ max_tokens: 1_000, max_completion_tokens: undefined })
    expect(limit(['max-completion-tokens'])).toEqual({ max_tokens: undefined, max_completion_tokens: 1_000 })
    expect(limit(['max-completion-tokens', 'max-tokens'])).toEqual({
      max_tokens: 1_000,
      max_completion_tokens: undefined,
    })
    expect(built([user('x')]).avoidable.has('max-completion-tokens')).toBe(true)
  })

  it('has room for thoughts where a model is known to think, and none beyond what its server writes', () => {
    expect(limit(['thinks'])).toMatchObject({ max_tokens: 9_192 })
    const traits = createTraitBook().of(ID)
    traits.longestAnswer = 800
    const { body } = buildRequest({ system: '', messages: [user('x')], tools: [], maxTokens: 1_000 }, new Map(), {
      id: ID,
      model: 'm',
      traits,
    })
    expect(body.max_tokens).toBe(800)
  })
})

describe('what goes back fits what was called', () => {
  const fields = { extra_content: { google: { thought_signature: 's' } } }

  it.each([
    ['fewer', [fields]],
    ['more', [fields, fields, fields]],
    ['none', []],
  ])('fields of %s calls than there are go to none', (_name, calls) => {
    const asked = step([call('a', 'look'), call('b', 'look')], { own: { calls } })
    const messages = [user('x'), asked, results(['a', 'b'])]
    expect(JSON.stringify(wire(messages))).not.toContain('thought_signature')
    expect(built(messages).avoidable.has('own-fields-refused')).toBe(false)
  })

  it('thoughts that a server demands are its own where there are some', () => {
    const asked = step([call('a', 'look')], { own: { message: { reasoning_content: 'I see.' } } })
    const [, sent] = wire([user('x'), asked, results(['a'])], ['thoughts-with-calls'])
    expect(sent).toMatchObject({ reasoning_content: 'I see.' })
  })

  it('a step with parts of its own stays apart from the text before it', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const before: ModelMessage = { role: 'assistant', text: 'Wait.', calls: [] }
    const [, said, asked] = wire([user('x'), before, step([call('a', 'look')], { own: { parts: [thinking] } })])
    expect(said).toEqual({ role: 'assistant', content: 'Wait.' })
    expect(asked).toMatchObject({ content: [thinking], tool_calls: [{ id: 'a' }] })
  })
})

describe('models of OpenAI', () => {
  const asked = (model: string, more: Partial<ModelRequest>) => {
    const request: ModelRequest = { system: '', messages: [user('x')], tools: [], maxTokens: 1_000, ...more }
    return buildRequest(request, new Map(), { id: ID, model, traits: createTraitBook().of(ID) })
  }

  it('do not think beside tools, those that only the history names among them', () => {
    const messages = [user('x'), step([call('a', 'look')]), results(['a'])]
    const effort = (model: string, more: Partial<ModelRequest>) =>
      asked(model, { thinking: 'high', ...more }).body.reasoning_effort
    expect(effort('gpt-5.4', {})).toBe('high')
    expect(effort('gpt-5.4', { tools: [look] })).toBe('none')
    expect(effort('gpt-5.4', { messages })).toBe('none')
    expect(effort('gpt-5.1', { messages })).toBe('high')
  })

  it.each(['o3', 'o4-mini', 'gpt-5', 'openai/gpt-5.1'])('%s takes no temperature, none is refused for it', (model) => {
    const { body, avoidable } = asked(model, { temperature: 0.3 })
    expect(body).not.toHaveProperty('temperature')
    expect(avoidable.has('no-temperature')).toBe(false)
  })

  it.each(['gpt-4o', 'qwen3:8b'])('%s takes one', (model) =>
    expect(asked(model, { temperature: 0.3 }).body.temperature).toBe(0.3),
  )
})

describe('only what a request has can be refused', () => {
  const picture = { type: 'image', media: 'picture' as MediaId, mime: 'image/png', size: 3 } as const
  const withCall = (own?: Partial<StepFields>) => [
    user('x'),
    step([call('a', 'look')], own ? { own } : {}),
    results(['a']),
  ]
  it.each<[Trait, boolean, string, Parameters<typeof built>]>([
    ['max-completion-tokens', true, 'the older limit', [[user('x')]]],
    ['max-tokens', false, 'the older limit', [[user('x')]]],
    ['max-tokens', true, 'the newer limit', [[user('x')], ['max-completion-tokens']]],
    ['max-completion-tokens', false, 'the newer limit', [[user('x')], ['max-completion-tokens']]],
    ['no-pictures', true, 'a picture', [[{ role: 'user', content: [picture] }]]],
    ['no-pictures', true, 'a picture of a tool', [[...withCall().slice(0, 2), results(['a'], [picture])]]],
    ['no-pictures', false, 'no picture', [withCall()]],
    [
      'no-pictures',
      false,
      'a picture that is not shown',
      [[{ role: 'user', content: [{ ...picture, media: 'gone' as MediaId }] }]],
    ],
    ['own-fields-refused', true, 'fields of a call', [withCall({ calls: [{ caller: 'x' }] })]],
    ['own-fields-refused', false, 'an id alone', [withCall({ calls: [{ id: 'functions.look:0' }] })]],
    ['own-fields-refused', false, 'a call without any', [withCall()]],
    ['no-thoughts-back', true, 'thoughts', [withCall({ message: { reasoning: 'Hm.' } })]],
    ['no-thoughts-back', false, 'a step without thoughts', [withCall()]],
    ['no-tools', true, 'a tool', [[user('x')]]],
    ['no-tools', true, 'a tool of the history alone', [withCall(), [], { tools: [] }]],
    ['no-tools', false, 'no tool', [[user('x')], [], { tools: [] }]],
    ['no-effort', false, 'no level', [[user('x')]]],
    ['no-temperature', false, 'no temperature', [[user('x')]]],
    ['signed-calls', false, 'no call', [[user('x')]]],
    ['thoughts-with-calls', false, 'no step', [[user('x')]]],
    ['nine-character-ids', false, 'no call', [[user('x')]]],
  ])('%s is %s with %s', (trait, avoidable, _name, args) => {
    expect(built(...args).avoidable.has(trait)).toBe(avoidable)
  })
})
