import { describe, expect, it } from 'vitest'
import { legalName, resolveCalls, resolveName } from '../../../src/agent/models/tool-names.ts'

const tools = ['note', 'send_message', 'files-read', 'web__search', 'Echo', 'a_b', 'a-b'].map((name) => ({
  name,
  parameters: {},
}))

describe('tool-names: the tool that a name means', () => {
  it.each([
    ['note', 'note'],
    ['functions.note', 'note'],
    ['functions:note', 'note'],
    ['functions.note:0', 'note'],
    ['note:12', 'note'],
    ['tools.note', 'note'],
    ['tool/note', 'note'],
    ['default_api.note', 'note'],
    ['default_api:note', 'note'],
    ['my-server::note', 'note'],
    ['note<|channel|>commentary', 'note'],
    ['functions.note<|constrain|>json', 'note'],
    [' note\n', 'note'],
    ['"note"', 'note'],
    ['Note', 'note'],
    ['NOTE', 'note'],
    ['sendMessage', 'send_message'],
    ['send-message', 'send_message'],
    ['functions.send.message', 'send_message'],
    ['files_read', 'files-read'],
    ['web.search', 'web__search'],
    ['echo', 'Echo'],
    ['a_b', 'a_b'],
  ])('%j is %s', (name, meant) => {
    expect(resolveName(name, tools)).toBe(meant)
  })

  it.each(['', 'notes', 'no', 'a.b', 'message', '<|channel|>', 'functions.', '_', 'multi_tool_use.parallel'])(
    '%j is none of them and stays as it is',
    (name) => {
      expect(resolveName(name, tools)).toBe(name)
    },
  )

  it('a name of a name space is that tool where it is offered', () => {
    expect(resolveName('functions.note', [...tools, { name: 'functions.note' }])).toBe('functions.note')
  })

  it('an unknown name is cut to 64 characters, none in half', () => {
    expect(resolveName('x'.repeat(99), tools)).toBe('x'.repeat(64))
    expect(resolveName(`${'x'.repeat(63)}😀`, tools)).toBe('x'.repeat(63))
  })
})

describe('tool-names: the calls that a call means', () => {
  it.each([
    ['an object', { a: 1 }, { a: 1 }],
    ['an object as text', '{"a":1}', { a: 1 }],
    ['JSON of JSON', JSON.stringify('{"a":1}'), { a: 1 }],
    ['no JSON', 'a, b', 'a, b'],
    ['a number', '5', '5'],
    ['a list', '[1]', '[1]'],
    ['nothing', '', ''],
  ])('arguments that are %s', (_, args, read) => {
    expect(resolveCalls({ id: 'c', name: 'functions.note', args }, tools)).toEqual([
      { id: 'c', name: 'note', args: read },
    ])
  })

  it.each([
    'multi_tool_use.parallel',
    'functions.multi_tool_use.parallel',
    'multi_tool_use_parallel',
    'multi_tool_use.parallel<|channel|>commentary',
    'parallel',
  ])('%s is the calls in it, each with an id of its own', (name) => {
    const uses = [
      { recipient_name: 'functions.note', parameters: { a: 1 } },
      { recipient_name: 'nobody', parameters: '{"b":2}' },
    ]
    for (const args of [{ tool_uses: uses }, JSON.stringify({ tool_uses: uses })]) {
      const calls = resolveCalls({ id: 'c', name, args }, tools)
      expect(calls.map((call) => ({ name: call.name, args: call.args }))).toEqual([
        { name: 'note', args: { a: 1 } },
        { name: 'nobody', args: { b: 2 } },
      ])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
      for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{32}$/)
    }
  })

  it.each([{}, { tool_uses: [] }, { tool_uses: [{ recipient_name: 1 }] }, { tool_uses: 'x' }])(
    'a wrapper without calls stays a call: %j',
    (args) => {
      expect(resolveCalls({ id: 'c', name: 'multi_tool_use.parallel', args }, tools)).toEqual([
        { id: 'c', name: 'multi_tool_use.parallel', args },
      ])
    },
  )

  it('a list or an object that a model wrote as a text is read, where the tool takes one', () => {
    const properties = { tags: { type: 'array' }, where: { type: 'object' }, text: { type: 'string' } }
    const offered = [{ name: 'note', parameters: { type: 'object', properties } }]
    const readOf = (args: object) => resolveCalls({ id: 'c', name: 'note', args }, offered)[0]?.args
    expect(readOf({ tags: '["a"]', where: '{"x":1}', text: '["a"]' })).toEqual({
      tags: ['a'],
      where: { x: 1 },
      text: '["a"]',
    })
    expect(readOf({ tags: '{"a":1}', where: '[1]', more: '[1]' })).toEqual({
      tags: '{"a":1}',
      where: '[1]',
      more: '[1]',
    })
  })

  it.each<[string, object, unknown, unknown]>([
    ['a number', { type: 'integer' }, '5', 5],
    ['half a number', { type: 'integer' }, '5.5', '5.5'],
    ['a number with a fraction', { type: 'number' }, '5.5', 5.5],
    ['a truth value', { type: 'boolean' }, 'true', true],
    ['one of Python', { type: 'boolean' }, 'False', false],
    ['null', { type: 'integer' }, 'null', null],
    ['no JSON', { type: 'integer' }, 'five', 'five'],
    ['nothing', { type: 'integer' }, '', ''],
    ['a text', { type: 'string' }, '5', '5'],
    ['a text of a list', { type: 'string', enum: ['null'] }, 'null', 'null'],
    ['a text or a list', { anyOf: [{ type: 'string' }, { type: 'array' }] }, '["a"]', '["a"]'],
    ['a list of types with a text', { type: ['array', 'string'] }, '[1]', '[1]'],
    ['a list of types', { type: ['array', 'null'] }, '[1]', [1]],
    ['a list or an object', { anyOf: [{ type: 'array' }, { type: 'object' }] }, '{"a":1}', { a: 1 }],
    ['anything', {}, '[1]', '[1]'],
    ['numbers in a list', { type: 'array', items: { type: 'integer' } }, ['1', 2], [1, 2]],
    ['a list in an object', { type: 'object', properties: { b: { type: 'array' } } }, '{"b":"[1]"}', { b: [1] }],
    [
      'one of several forms',
      { oneOf: [{ properties: { b: { type: 'integer' } } }] },
      { b: '1', c: '1' },
      { b: 1, c: '1' },
    ],
    ['a name of JavaScript', { type: 'object', properties: {} }, { constructor: '1' }, { constructor: '1' }],
  ])('what a model wrote as a text is read where the tool takes none: %s', (_, schema, written, read) => {
    const offered = [{ name: 'note', parameters: { properties: { a: schema } } }]
    expect(resolveCalls({ id: 'c', name: 'note', args: { a: written } }, offered)[0]?.args).toEqual({ a: read })
  })

  it('a tool that is offered under the name of the wrapper is called', () => {
    const call = { id: 'c', name: 'parallel', args: { tool_uses: [{ recipient_name: 'note' }] } }
    expect(resolveCalls(call, [{ name: 'parallel', parameters: {} }])).toEqual([call])
  })
})

describe('tool-names: names for a history', () => {
  it.each(['note', 'a-b_C9', 'x'.repeat(64)])('%s is legal and stays', (name) => {
    expect(legalName(name)).toBe(name)
  })

  it('names that are none become legal and stay different', () => {
    const bad = [
      '',
      ' ',
      '.',
      ':',
      'functions.note',
      'functions:note',
      '为',
      '注',
      'x'.repeat(65),
      'x'.repeat(66),
      'a\u0000b',
      '😀',
    ]
    const legal = bad.map(legalName)
    for (const name of legal) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(new Set(legal).size).toBe(bad.length)
    expect(bad.map(legalName)).toEqual(legal)
  })
})
