import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Schema } from '../../src/core/schema-node.ts'
import { type OfferedSchema, offerSchema } from '../../src/core/tool-schema.ts'
import {
  anthropicSchema,
  geminiSchema,
  kimiSchema,
  llamaCppSchema,
  openAiSchema,
  type SchemaRule,
} from '../../src/rehearsal/schema-rules.ts'

const RULES: Readonly<Record<string, SchemaRule>> = {
  Anthropic: anthropicSchema,
  OpenAI: openAiSchema,
  Gemini: geminiSchema,
  Kimi: kimiSchema,
  'llama.cpp': llamaCppSchema,
}

function faultsOf(parameters: Schema): readonly string[] {
  const plain = JSON.parse(JSON.stringify(parameters)) as Record<string, unknown>
  return Object.entries(RULES).flatMap(([name, rule]) => {
    const fault = rule(plain)
    return fault === undefined ? [] : [`${name}: ${fault}`]
  })
}

function offered(schema: unknown): OfferedSchema {
  const found = offerSchema(schema)
  if (typeof found === 'string') throw new Error(found)
  return found
}

const parametersOf = (schema: unknown) => offered(schema).parameters
/** Returns the one argument `a` as it is offered. */
const argument = (a: unknown, more: object = {}) => {
  const { properties } = parametersOf({ type: 'object', properties: { a }, ...more })
  return (properties as Record<string, unknown>).a
}

const folder = new URL('../fixtures/tool-servers/', import.meta.url)
/** Each with its tools, one a line. */
const SERVERS = readdirSync(folder).map((file) => {
  const lines = readFileSync(new URL(file, folder), 'utf8').trim().split('\n')
  return [file.replace('.jsonl', ''), lines.map((line) => JSON.parse(line) as RecordedTool)] as const
})

interface OfferedPart {
  readonly properties?: Readonly<Record<string, OfferedPart>>
  readonly items?: OfferedPart
  readonly anyOf?: readonly OfferedPart[]
}

interface RecordedTool {
  readonly name: string
  readonly inputSchema: Schema
}

/** Names as servers have them, and some that JavaScript knows. */
const names = fc.oneof(
  fc.constantFrom('a', 'b', '$a', 'a$', '[a]', 'a.b', 'a b', '', 'имя', 'x'.repeat(65), `${'x'.repeat(64)}y`),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'properties', 'type', '$ref', '_a_', 'required'),
  fc.string({ maxLength: 6 }),
)
const words = fc.constantFrom(
  ...['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'],
  ...['any', 'int', 'float', 'str', 'dict', 'list[str]', 'String', 'no type', ''],
)
const values = fc.oneof(fc.constantFrom('', 'a', 'b', 0, 1, 1.5, true, null), fc.jsonValue({ maxDepth: 2 }))
const refs = fc.constantFrom('#', '#/$defs/a', '#/definitions/b', '#/properties/a', '#/$defs/none', '#anchor', '#/%')

const keyword = <Value>(name: string, value: fc.Arbitrary<Value>) => fc.tuple(fc.constant(name), value)

/** Schemas of all drafts and of none. */
const { schema: schemas } = fc.letrec<{ schema: unknown }>((tie) => {
  const part = tie('schema')
  const some = fc.array(part, { maxLength: 3 })
  const named = fc.dictionary(names, part, { maxKeys: 3 })
  const keywords = fc.oneof(
    { arbitrary: keyword('type', fc.oneof(words, fc.array(words, { maxLength: 3 }), values)), weight: 6 },
    { arbitrary: keyword('properties', fc.oneof(named, named, fc.constantFrom(null, []))), weight: 6 },
    keyword('required', fc.oneof(fc.array(names, { maxLength: 3 }), fc.constantFrom(null, true, ['a', 'a']))),
    keyword('items', fc.oneof(part, some)),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].map((name) => keyword(name, some)),
    ...['additionalProperties', 'then', 'not'].map((name) => keyword(name, part)),
    ...['$defs', 'definitions', 'patternProperties'].map((name) =>
      keyword(name, fc.dictionary(fc.constantFrom('a', 'b'), part, { maxKeys: 2 })),
    ),
    keyword('$ref', refs),
    keyword('enum', fc.array(values, { maxLength: 4 })),
    ...['const', 'default'].map((name) => keyword(name, values)),
    keyword('nullable', fc.boolean()),
    keyword('description', fc.oneof(fc.string(), values)),
    keyword('title', fc.string()),
    keyword('format', fc.constantFrom('uint32', 'date-time', 'json')),
    keyword('pattern', fc.constantFrom('\\S', '^\\d+$', '(?=a)', '[', '^\\p{L}$')),
    keyword('minimum', fc.oneof(fc.integer(), values)),
    keyword('exclusiveMinimum', fc.oneof(fc.integer(), fc.boolean())),
    keyword('maxLength', fc.constantFrom(10, 100_000)),
    keyword('$schema', fc.constant('http://json-schema.org/draft-07/schema#')),
  )
  const record = fc.array(keywords, { minLength: 1, maxLength: 5 }).map((entries) => Object.fromEntries(entries))
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<unknown[]>({}, true, false, null, 'string', [], 7, { type: 'string' }),
      record,
      record,
    ),
  }
})
const tops = schemas.map((schema) =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? { ...schema, type: 'object' } : schema,
)

describe('the schema of a tool, as it is offered', () => {
  it('is one that every provider takes, whatever was given', () => {
    fc.assert(
      fc.property(tops, (schema) => {
        const found = offerSchema(schema)
        if (typeof found === 'string') return
        expect(faultsOf(found.parameters)).toEqual([])
        expect(JSON.stringify(found.parameters).length).toBeLessThanOrEqual(16_000)
        expect(JSON.stringify(offered(schema).parameters)).toBe(JSON.stringify(found.parameters))
      }),
      { numRuns: 1_000 },
    )
  })

  it.each(SERVERS)('is one that every provider takes, and says the same again: %s', (_, tools) => {
    for (const { inputSchema } of tools) {
      const { parameters } = offered(inputSchema)
      expect(faultsOf(parameters)).toEqual([])
      expect(JSON.stringify(parametersOf(parameters))).toBe(JSON.stringify(parameters))
    }
  })

  it('names each argument as all take it, and no two alike', () => {
    const given = [
      'filter',
      '$filter',
      'filter[id]',
      'filter_id',
      'a.b',
      'a b',
      'имя',
      '名',
      '',
      '__proto__',
      'constructor',
    ]
    const long = ['x'.repeat(64), 'x'.repeat(65), `${'x'.repeat(64)}y`]
    const schema = { type: 'object', properties: Object.fromEntries([...given, ...long].map((name) => [name, {}])) }
    const names = Object.keys(parametersOf(schema).properties as object)
    expect(names.slice(0, 11)).toEqual([
      ...['filter', 'filter_2', 'filter_id_2', 'filter_id', 'a_b', 'a_b_2'],
      ...['argument', 'argument_2', 'argument_3', 'proto', 'constructor'],
    ])
    expect(new Set(names).size).toBe(14)
    const args = Object.fromEntries(names.map((name, at) => [name, at]))
    expect(Object.entries(offered(schema).restore(args))).toEqual([...given, ...long].map((name, at) => [name, at]))
  })

  it('says the name that a description may speak of', () => {
    expect(argument({}, { properties: { $filter: { type: 'string', description: 'as in OData' } } })).toBeUndefined()
    expect(parametersOf({ properties: { $filter: { type: 'string', description: 'as in OData' } } })).toEqual({
      type: 'object',
      properties: { filter: { type: 'string', description: '(name: $filter) as in OData' } },
    })
  })

  const text = { type: 'string' }
  const any = {
    anyOf: [text, { type: 'number' }, { type: 'boolean' }, { type: 'object' }, { type: 'array', items: text }],
  }
  it.each<[string, unknown, unknown]>([
    ['a list without items', { type: 'array' }, { type: 'array', items: any }],
    ['a list of anything', { type: 'array', items: true }, { type: 'array', items: any }],
    [
      'places of a list',
      { items: [text, { type: 'integer' }] },
      { type: 'array', items: { anyOf: [text, { type: 'integer' }] } },
    ],
    ['places of a newer draft', { type: 'array', prefixItems: [text, text] }, { type: 'array', items: text }],
    ['nothing', {}, any],
    ['anything', true, any],
    ['any', { type: 'any' }, any],
    ['a word of Python', { type: 'int' }, { type: 'integer' }],
    ['another', { type: 'dict' }, { type: 'object' }],
    ['a type of Python', { type: 'list[str]' }, { type: 'array', items: any }],
    ['a type in capitals', { type: 'STRING' }, text],
    ['a type as a text', 'string', text],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [text, { type: 'integer' }] }],
    ['a type or null', { type: ['string', 'null'], default: null }, text],
    ['null of OpenAPI', { type: 'string', nullable: true }, { ...text, description: '(may be null)' }],
    [
      'a form or null',
      { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'n', default: null },
      { type: 'integer', description: 'n' },
    ],
    ['no type but properties', { properties: { b: text } }, { type: 'object', properties: { b: text } }],
    ['no type but values', { enum: ['x', 'y', 'x'] }, { type: 'string', enum: ['x', 'y'] }],
    ['no values', { type: 'string', enum: [] }, text],
    ['an empty value', { enum: ['', 'x'] }, { type: 'string', enum: ['x'], description: '(may be empty)' }],
    ['numbers', { enum: [1, 2] }, { type: 'integer', description: '(one of: [1,2])' }],
    ['a constant', { const: 'x' }, { type: 'string', enum: ['x'] }],
    ['constants', { oneOf: [{ const: 'x' }, { const: 'y', title: 'Y' }] }, { type: 'string', enum: ['x', 'y'] }],
    [
      'types of constants',
      { type: 'string', anyOf: [{ const: 'x' }, { const: 'y' }] },
      { type: 'string', enum: ['x', 'y'] },
    ],
    [
      'bounds',
      { type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991, format: 'uint32' },
      { type: 'integer', description: '(exclusiveMinimum: 0)' },
    ],
    ['a pattern', { ...text, pattern: '^\\d', description: 'id' }, { ...text, description: 'id (pattern: ^\\d)' }],
    ['a title alone', { ...text, title: 'The id' }, { ...text, description: 'The id' }],
    [
      'values of free names',
      { type: 'object', additionalProperties: text },
      { type: 'object', description: '(values: string)' },
    ],
    ['no properties of PHP', { type: 'object', properties: [] }, { type: 'object' }],
    ['an empty object', { type: 'object', properties: {} }, { type: 'object' }],
    [
      'all of',
      { allOf: [{ properties: { b: text } }, { properties: { c: text }, required: ['c'] }] },
      { type: 'object', properties: { b: text, c: text }, required: ['c'] },
    ],
    [
      'what an object needs',
      { properties: { b: text, c: text }, anyOf: [{ required: ['b'] }, { required: ['c'] }] },
      { type: 'object', properties: { b: text, c: text }, description: '(needs b, or c)' },
    ],
    [
      'required of the oldest draft',
      { properties: { b: { ...text, required: true } } },
      { type: 'object', properties: { b: text }, required: ['b'] },
    ],
    [
      'required and nowhere',
      { type: 'object', required: ['b', 'b'] },
      { type: 'object', properties: { b: any }, required: ['b'] },
    ],
    ['required as null', { type: 'object', required: null }, { type: 'object' }],
    ['never', false, undefined],
  ])('fills in and makes plain: %s', (_, given, made) => {
    expect(argument(given)).toEqual(made)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an empty list of PHP', []],
    ['no keywords', {}],
    ['no properties', { type: 'object' }],
    ['null for properties', { type: 'object', properties: null }],
    ['closed', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', additionalProperties: false }],
  ])('of a tool without arguments is empty: %s', (_, schema) => {
    expect(parametersOf(schema)).toEqual({ type: 'object', properties: {} })
  })

  it('takes keywords that stand among the properties for what they are, and keeps arguments of their names', () => {
    const offered = (properties: object) => {
      const found = offerSchema({ type: 'object', properties })
      return typeof found === 'string' ? found : found.parameters
    }
    const coin = { type: 'string' }
    const misplaced = {
      coin,
      required: ['coin'],
      title: 'Book',
      description: 'Set of values',
      additionalProperties: true,
    }
    expect(offered(misplaced)).toEqual({ type: 'object', properties: { coin }, required: ['coin'] })
    expect(
      offered({ inner: { type: 'object', properties: { a: 'string', type: 'object', minProperties: 1 } } }),
    ).toEqual({
      type: 'object',
      properties: { inner: { type: 'object', properties: { a: { type: 'string' } } } },
    })
    const real = { required: { type: 'boolean' }, type: { type: 'string' }, title: { type: 'string' } }
    expect(offered(real)).toEqual({ type: 'object', properties: real })
  })

  it('has the properties of all its forms, for no provider takes forms at the top', () => {
    const forms = [
      { properties: { kind: { const: 'a' }, x: text }, required: ['kind', 'x'] },
      { $ref: '#/definitions/b' },
    ]
    const definitions = { b: { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] } }
    expect(parametersOf({ type: 'object', oneOf: forms, definitions })).toEqual({
      type: 'object',
      properties: { kind: { type: 'string', enum: ['a', 'b'] }, x: text },
      required: ['kind'],
      description: '(needs kind and x, or kind)',
    })
  })

  it('has references followed, and one to what it is part of by its type', () => {
    const node = {
      type: 'object',
      properties: { name: text, below: { type: 'array', items: { $ref: '#/$defs/node' } } },
    }
    expect(argument({ $ref: '#/$defs/node', description: 'a tree' }, { $defs: { node } })).toEqual({
      type: 'object',
      properties: { name: text, below: { type: 'array', items: { type: 'object' } } },
      description: 'a tree',
    })
    expect(argument({ $ref: '#/properties/b' }, { properties: { a: { $ref: '#/properties/b' }, b: text } })).toEqual(
      text,
    )
    expect(argument({ $ref: '#/$defs/none' })).toEqual(any)
    expect(argument({ type: 'object', properties: { self: { $ref: '#' } } })).toMatchObject({
      properties: { self: { type: 'object', properties: { a: { properties: { self: { type: 'object' } } } } } },
    })
  })

  it.each<[string, unknown, string]>([
    ['a text', { type: 'string' }, 'its arguments are no object'],
    ['no schema', 'string', 'its arguments are no object'],
    ['never', false, 'its arguments are no object'],
    ['elsewhere', { properties: { a: { $ref: 'http://x/y' } } }, 'its arguments refer to another document'],
    [
      'a megabyte',
      { properties: { a: { enum: ['x'.repeat(1_000_000)] } } },
      'its arguments are described at too great length',
    ],
    [
      'many elements',
      { properties: { a: { enum: Array.from({ length: 30_000 }, () => 1) } } },
      'its arguments are described at too great length',
    ],
    [
      'many names',
      { properties: Object.fromEntries(Array.from({ length: 900 }, (_one, at) => [`name_of_argument_${at}`, text])) },
      'its arguments are described at too great length',
    ],
  ])('that cannot be mended is said to be so: %s', (_, schema, why) => {
    expect(offerSchema(schema)).toBe(why)
  })

  it('that is deep, or refers to itself in JavaScript, is refused without walking it', () => {
    let deep: object = {}
    for (let at = 0; at < 500; at++) deep = { properties: { a: deep } }
    const loop: Record<string, unknown> = { type: 'object' }
    loop.properties = { loop }
    for (const schema of [deep, loop])
      expect(offerSchema(schema)).toBe('its arguments are described at too great length')
  })

  it.each([
    ['objects', (a: object) => ({ type: 'object', properties: { a } })],
    ['lists', (items: object) => ({ type: 'array', items })],
    [
      'objects that may be null',
      (a: object) => ({ type: 'object', properties: { a: { anyOf: [a, { type: 'null' }] } } }),
    ],
    ['objects of two forms', (a: object) => ({ anyOf: [{ type: 'string' }, { type: 'object', properties: { a } }] })],
  ])('that nests 50 %s is offered as deep as the strictest provider takes', (_, around) => {
    let schema: object = { type: 'string' }
    for (let at = 0; at < 50; at++) schema = around(schema)
    const parameters = parametersOf({ type: 'object', properties: { q: schema } })
    const levelsOf = ({ properties = {}, items, anyOf = [] }: OfferedPart): number =>
      1 + Math.max(0, ...[...Object.values(properties), ...(items ? [items] : []), ...anyOf].map(levelsOf))
    expect(levelsOf(parameters)).toBeGreaterThan(3)
    expect(levelsOf(parameters)).toBeLessThanOrEqual(10)
    expect(faultsOf(parameters)).toEqual([])
  })

  it('that is too long loses the words of what is deep before it loses anything else', () => {
    const leaf = { type: 'string', description: 'w'.repeat(300) }
    const inner = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, leaf]))
    const properties = {
      a: { ...text, description: 'told' },
      b: { properties: { c: { properties: { d: { properties: inner } } } } },
    }
    const { b, ...rest } = parametersOf({
      type: 'object',
      properties: {
        ...properties,
        e: { properties: { f: { properties: inner } } },
        g: { properties: { h: { properties: inner } } },
      },
    }).properties as Record<string, unknown>
    expect(rest.a).toEqual({ ...text, description: 'told' })
    expect(JSON.stringify(b)).toContain('"p19":{"type":"string"}')
  })

  it('whose references multiply comes to an end', () => {
    const entries = Array.from({ length: 60 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` }
      return [
        `d${at}`,
        { properties: { a: next, b: next, $c: { anyOf: [next, next] } }, allOf: [next, next], oneOf: [next, next] },
      ]
    })
    const schema = { $ref: '#/$defs/d0', type: 'object', $defs: Object.fromEntries(entries) }
    const { restore, parameters } = offered(schema)
    expect(faultsOf(parameters)).toEqual([])
    expect(restore({ a: { b: { a: {} } } })).toEqual({ a: { b: { a: {} } } })
  })
})

describe('the arguments of a call, on their way back', () => {
  const text = { type: 'string' }

  it('have the names of the tool, at every depth and in every form, and lose nothing', () => {
    const properties = {
      $filter: text,
      'rows[]': { type: 'array', items: { anyOf: [{ properties: { '@id': text } }, { properties: { $ref: text } }] } },
      free: { type: 'object', additionalProperties: { properties: { 'x y': text } } },
      tree: { $ref: '#/$defs/node' },
    }
    const $defs = {
      node: { properties: { '@id': text, '#below': { type: 'array', items: { $ref: '#/$defs/node' } } } },
    }
    const { restore } = offered({ type: 'object', properties, $defs })
    const back = restore({
      filter: 'a',
      rows: [{ id: '1' }, { ref: '2', filter: 'kept' }],
      free: { filter: { x_y: 'b' } },
      tree: { id: '3', below: [{ id: '4', below: [{ id: '5' }] }] },
      more: { id: 1 },
    })
    expect(back).toEqual({
      $filter: 'a',
      'rows[]': [{ '@id': '1' }, { $ref: '2', filter: 'kept' }],
      free: { filter: { 'x y': 'b' } },
      tree: { '@id': '3', '#below': [{ '@id': '4', '#below': [{ '@id': '5' }] }] },
      more: { id: 1 },
    })
    expect(restore({ $filter: 'by its own name' })).toEqual({ $filter: 'by its own name' })
  })

  it('have the defaults of what is required, and null where it may be null', () => {
    const inner = { properties: { mode: { enum: ['a', 'b'], default: 'a' } }, required: ['mode'] }
    const properties = {
      scale: { type: 'string', enum: ['css', 'device'], default: 'css' },
      after: { anyOf: [text, { type: 'null' }] },
      wrong: { type: 'integer', default: 'many' },
      inner,
      list: { type: 'array', items: inner },
      free: { type: 'string', default: 'left to the server' },
      gone: { type: 'null' },
    }
    const schema = { type: 'object', properties, required: ['scale', 'after', 'wrong', 'inner', 'list', 'gone'] }
    const { parameters, restore } = offered(schema)
    expect(parameters.required).toEqual(['wrong', 'inner', 'list'])
    expect(Object.keys(parameters.properties as object)).not.toContain('gone')
    expect(restore({ wrong: 1, inner: {}, list: [{}, { mode: 'b' }] })).toEqual({
      ...{ wrong: 1, inner: { mode: 'a' }, list: [{ mode: 'a' }, { mode: 'b' }] },
      ...{ scale: 'css', after: null, gone: null },
    })
    expect(restore({ scale: 'device', after: 'x' })).toMatchObject({ scale: 'device', after: 'x' })
  })

  it('are without null and empty texts that stand for what was left out', () => {
    const properties = {
      ...{ id: { type: 'integer' }, mode: { enum: ['a', 'b'] }, name: text, scale: { enum: ['css'], default: 'css' } },
      ...{ due: { type: ['string', 'null'] }, any: {}, must: { type: 'integer' } },
    }
    const { restore } = offered({ type: 'object', properties, required: ['must', 'scale'] })
    const args = { id: null, mode: '', name: '', due: null, any: null, must: null, scale: null, more: null }
    expect(restore(args)).toEqual({ name: '', due: null, any: null, must: null, scale: 'css', more: null })
    expect(restore({ id: '', mode: null, name: null })).toEqual({ scale: 'css' })
  })

  /** Keywords that are words of the description. */
  const SAID = /^(pattern|format|m(in|ax)(imum|Length|Items)|exclusiveM.*|propertyNames|\$schema)$/
  const loosened = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(loosened)
    if (typeof schema !== 'object' || schema === null) return schema
    const kept = Object.entries(schema).filter(([key, value]) => !SAID.test(key) || typeof value === 'object')
    return Object.fromEntries(kept.map(([key, value]) => [key === 'oneOf' ? 'anyOf' : key, loosened(value)]))
  }

  it.each(SERVERS)('are valid for the tool where they were for the offer: %s', (_, tools) => {
    for (const { name, inputSchema } of tools) {
      const { parameters, restore } = offered(inputSchema)
      const isValid = new Ajv2020({ strict: false }).compile(loosened(inputSchema) as object)
      fc.assert(
        fc.property(valuesFor(parameters), (args) => {
          const back = restore(args as Record<string, unknown>)
          expect(isValid(back) || `${name} ${JSON.stringify(back)} ${JSON.stringify(isValid.errors)}`).toBe(true)
        }),
        { numRuns: 10 },
      )
    }
  })

  it('are valid for the tool where they were for the offer, whatever its names', () => {
    // The validator knows no property of that name.
    const known = names.filter((name) => name !== '__proto__')
    const { object } = fc.letrec<{ object: Schema; part: Schema }>((tie) => ({
      object: fc
        .tuple(
          fc.dictionary(known, tie('part'), { maxKeys: 4 }),
          fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        )
        .map(([properties, required]) => ({
          ...{ type: 'object', properties, additionalProperties: false },
          required: Object.keys(properties).filter((_, at) => required[at]),
        })),
      part: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Schema[]>(
          ...[text, { type: 'integer', default: 3 }, { type: ['boolean', 'null'] }, { enum: ['a', 'b'], default: 'a' }],
          ...[{ type: 'null' }, {}, { const: 'x' }, { type: 'array', items: {} }],
        ),
        tie('object'),
        fc.record({ type: fc.constant('array'), items: tie('object') }),
        fc.record({ anyOf: fc.tuple(tie('object'), fc.constant({ type: 'null' })) }),
        fc.record({ allOf: fc.tuple(tie('object')) }),
      ),
    }))
    fc.assert(
      fc.property(object, fc.gen(), (schema, gen) => {
        // A deeper one is offered to ten levels, and below them the model is told nothing.
        fc.pre(levelsOf(schema) < 8)
        const { parameters, restore } = offered(schema)
        const args = gen(() => valuesFor(parameters)) as Record<string, unknown>
        const isValid = new Ajv2020({ strict: false, ownProperties: true }).compile(schema as object)
        const back = restore(args)
        expect(isValid(back) || `${JSON.stringify(back)} ${JSON.stringify(isValid.errors)}`).toBe(true)
      }),
      { numRuns: 100, endOnFailure: true },
    )
  })
})

/** Returns how many schemas lie within each other. */
function levelsOf({ properties = {}, items, anyOf = [], allOf = [] }: Schema): number {
  const parts = [...Object.values(properties as Schema), items, ...(anyOf as Schema[]), ...(allOf as Schema[])]
  return 1 + Math.max(0, ...parts.map((part) => (part === undefined ? 0 : levelsOf(part as Schema))))
}

/** Returns values that are valid for a schema as it is offered. */
function valuesFor(schema: unknown): fc.Arbitrary<unknown> {
  const { type, anyOf, enum: listed, items, properties = {}, required = [] } = schema as Record<string, never>
  if (anyOf !== undefined) return fc.oneof(...(anyOf as Schema[]).map(valuesFor))
  if (listed !== undefined) return fc.constantFrom(...(listed as unknown[]))
  if (type === 'array') return fc.array(valuesFor(items), { maxLength: 2 })
  if (type === 'object') {
    const entries = Object.entries(properties).map(([name, part]) =>
      (required as string[]).includes(name)
        ? valuesFor(part).map((value) => [[name, value]] as const)
        : fc
            .option(valuesFor(part), { nil: undefined })
            .map((value) => (value === undefined ? [] : [[name, value] as const])),
    )
    return fc.tuple(...entries).map((all) => Object.fromEntries(all.flat()))
  }
  if (type === 'string') return fc.string({ minLength: 1, maxLength: 5 })
  if (type === 'boolean') return fc.boolean()
  return type === 'integer' ? fc.integer() : fc.double({ noNaN: true, noDefaultInfinity: true })
}
