import { isDeeper } from './opaque.ts'
import { createSchemaReader, isRecord, type Node, type Schema, type SchemaReader } from './schema-node.ts'

/** The form in which a tool of somebody else is offered to models, and the way back for the arguments of its calls. */
export interface OfferedSchema {
  /** The arguments in the one form that every provider takes. */
  readonly parameters: Schema
  /** The arguments by the tool's own names. */
  readonly names: readonly string[]
  /**
   * Returns arguments as the tool takes them: by its own names, with the defaults of what it requires, and without what
   * stands for an argument that was left out. What the schema does not name stays as it is.
   */
  restore(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
}

/** Each word of it is paid for in every turn. */
const LONGEST_OFFER = 16_000
/** The characters and elements that a schema may have; they are counted before anything walks it. */
const LONGEST = 64_000
const MOST_ELEMENTS = 20_000
const DEEPEST = 500
/** The parts within each other that the strictest providers take; they refuse a whole request for one more. */
const MOST_LEVELS = 10
/** The parts of one offer, so that references that multiply end: more are longer than an offer in any case. */
const MOST_NODES = 800

/** Down to which level parts are described, and with words; the first of them that is short enough is offered. */
const DETAILS = [
  { parts: 9, words: 9, longest: 4_000 },
  { parts: 6, words: 6, longest: 4_000 },
  { parts: 4, words: 4, longest: 4_000 },
  { parts: 9, words: 2, longest: 1_000 },
  { parts: 4, words: 2, longest: 1_000 },
  { parts: 3, words: 2, longest: 500 },
  { parts: 2, words: 1, longest: 200 },
  { parts: 1, words: 0, longest: 0 },
] as const
type Detail = (typeof DETAILS)[number]

/**
 * Makes of any JSON schema, of whatever draft and however wrong, the one form that all providers take: objects with
 * legal names, lists with items, one type each or `anyOf` alone, `enum` of texts. What other keywords say is said in
 * the description. Returns why that cannot be done as a text. Pure; it follows no reference out of the schema.
 */
export function offerSchema(schema: unknown): OfferedSchema | string {
  const given = schema === null || schema === undefined || schema === true || isEmptyList(schema) ? {} : schema
  if (!isRecord(given)) return 'its arguments are no object'
  const taken = measure(given)
  if (taken === undefined) return 'its arguments are described at too great length'
  const reader = createSchemaReader(given)
  const names = createNames(taken)
  const root = reader.node(given)
  if (reader.elsewhere) return 'its arguments refer to another document'
  if (root.types.length > 0 && !root.types.includes('object')) return 'its arguments are no object'
  for (const detail of DETAILS) {
    const offer = new Offer(reader, names, detail)
    const parameters = offer.root(given)
    if (reader.elsewhere) return 'its arguments refer to another document'
    if (offer.isTooLarge || JSON.stringify(parameters).length > LONGEST_OFFER) continue
    if (levelsOf(parameters) > MOST_LEVELS) continue
    const restore = (args: Readonly<Record<string, unknown>>) => createRestorer(given, names).root(args)
    return { parameters, names: [...partsOf(reader, given).keys()], restore }
  }
  return 'its arguments are described at too great length'
}

/** Returns how many parts of an offer lie within each other. */
function levelsOf({ properties, items, anyOf }: Schema): number {
  const parts = [
    ...(isRecord(properties) ? Object.values(properties) : []),
    items,
    ...(Array.isArray(anyOf) ? anyOf : []),
  ]
  return 1 + Math.max(0, ...parts.filter(isRecord).map(levelsOf))
}

function isEmptyList(schema: unknown): boolean {
  return Array.isArray(schema) && schema.length === 0
}

/** Returns the names that a schema gives to properties, in one pass without calls; undefined if it is too large. */
function measure(schema: Schema): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  let [characters, elements] = [0, 0]
  const open: [key: string, value: unknown][] = [['', schema]]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [key, value] = at
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
    characters += key.length + (typeof value === 'string' ? value.length : 4)
    elements += 1 + inner.length
    if (elements > MOST_ELEMENTS || characters > LONGEST) return undefined
    for (const [name] of key === 'properties' ? inner : []) names.add(name)
    open.push(...inner)
  }
  return isDeeper(schema, DEEPEST) ? undefined : names
}

interface Names {
  /** Returns the name under which an argument is offered; the same one each time. */
  offered(name: string): string
  /** Returns the argument that is offered under a name. */
  given(name: string): string
}

const LONGEST_NAME = 64
const LEGAL = /^(?!__proto__$)[a-zA-Z0-9_-]{1,64}$/

/** Names differ in the whole schema, so that the way back need not know which of several forms an object has. */
function createNames(taken: ReadonlySet<string>): Names {
  const offered = new Map<string, string>()
  const given = new Map<string, string>()
  const last = new Map<string, number>()
  return {
    offered(name) {
      const known = offered.get(name)
      if (known !== undefined) return known
      const isLegal = LEGAL.test(name)
      const base = isLegal ? name : name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^_+|_+$/g, '') || 'argument'
      const isFree = (one: string): boolean => !given.has(one) && (one === name || !taken.has(one))
      let legal = base.slice(0, LONGEST_NAME)
      const stem = base.slice(0, LONGEST_NAME - 8)
      for (let nth = last.get(stem) ?? 2; !isFree(legal); nth++) {
        legal = `${stem}_${nth}`
        last.set(stem, nth + 1)
      }
      offered.set(name, legal)
      given.set(legal, name)
      return legal
    },
    given: (name) => given.get(name) ?? name,
  }
}

/** The place of a part in the schema. */
interface Place {
  readonly level: number
  /** The references that are being described around it. */
  readonly within: readonly string[]
  /** The value has this form, whatever its other forms. */
  readonly certain: boolean
}

const SCALARS = ['string', 'number', 'boolean'].map((type) => ({ type }))
/** Any value. Some providers take nothing without a type. */
const ANY = [...SCALARS, { type: 'object' }, { type: 'array', items: { type: 'string' } }]

class Offer {
  readonly #reader: SchemaReader
  readonly #names: Names
  readonly #detail: Detail
  #left = MOST_NODES

  constructor(reader: SchemaReader, names: Names, detail: Detail) {
    this.#reader = reader
    this.#names = names
    this.#detail = detail
  }

  /** It has more parts than any offer: the rest of them were not looked at. */
  get isTooLarge(): boolean {
    return this.#left <= 0
  }

  root(schema: Schema): Schema {
    const node = this.#reader.node(schema)
    const { type, ...rest } = this.#object(node, { level: 0, within: node.refs, certain: true })
    return { type, properties: {}, ...rest }
  }

  /** Returns a part of the schema in the form that all take. */
  #part(schema: unknown, { level, within, certain }: Place): Schema {
    if (--this.#left < 0) return {}
    const node = this.#reader.node(schema, within)
    const at = { level, within: node.refs, certain }
    const { alternatives } = node
    if (alternatives.length > 0 && !node.isOneObject) {
      const forms = alternatives.flat().map((form) => this.#part(form, { ...at, certain: false }))
      return this.#described(eitherOf(forms), node, level)
    }
    const forms = node.types.length === 0 ? ANY : node.types.map((type) => this.#typed(type, node, at))
    return this.#described(eitherOf(forms), node, level)
  }

  #typed(type: string, node: Node, at: Place): Schema {
    if (at.level > this.#detail.parts) return type === 'array' ? { type, items: { anyOf: ANY } } : { type }
    if (type === 'object') return this.#object(node, at)
    const inner = { ...at, level: at.level + 1 }
    if (type === 'array')
      return { type, items: node.items === undefined ? { anyOf: ANY } : this.#part(node.items, inner) }
    return type === 'string' && node.texts.length > 0 ? { type, enum: node.texts } : { type }
  }

  /** An object with the properties of all its forms: providers take no alternatives at the top. */
  #object(node: Node, at: Place): Schema {
    const isPlain = at.level >= this.#detail.parts && at.level > 0
    const forms = isPlain ? new Map<string, FormOf[]>() : formsOf(this.#reader, node, at.certain)
    if (forms.size > this.#left) this.#left = 0
    if (this.#left <= 0) return { type: 'object' }
    const properties = [...forms].flatMap(([name, schemas]): [string, Schema][] => {
      if (schemas.every(({ schema }) => this.#reader.node(schema, at.within).onlyNull)) return []
      const certain = schemas.length === 1 && schemas.every((one) => one.certain)
      const inner = { level: at.level + 1, within: at.within, certain }
      const [only] = schemas
      const part = this.#part(
        schemas.length === 1 ? only?.schema : { anyOf: schemas.map(({ schema }) => schema) },
        inner,
      )
      const offered = this.#names.offered(name)
      return [[offered, offered === name ? part : this.#noted(part, [`name: ${name}`], inner.level)]]
    })
    const names = new Set(properties.map(([name]) => name))
    const needed = isPlain ? [] : requiredOf(this.#reader, node, at.certain).map((name) => this.#names.offered(name))
    const required = needed.filter((name) => names.has(name))
    const schema: Schema = {
      type: 'object',
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
    }
    return this.#noted(schema, [...this.#valuesNote(node, at), ...choicesNote(this.#reader, node)], at.level)
  }

  /** Says what the values of an object are whose names are free. */
  #valuesNote({ values }: Node, { level, within }: Place): readonly string[] {
    if (values === undefined || level >= this.#detail.words) return []
    const part = this.#part(values, { level: level + 1, within, certain: true })
    if (part.anyOf === ANY) return []
    const { type, ...rest } = part
    return [`values: ${Object.keys(rest).length === 0 ? String(type) : JSON.stringify(part)}`]
  }

  #described(schema: Schema, { words, notes }: Node, level: number): Schema {
    return this.#noted(schema, notes, level, words)
  }

  /** Alternatives stand alone: what is said of all of them is said with the first. */
  #noted(schema: Schema, notes: readonly string[], level: number, words = ''): Schema {
    const { longest } = this.#detail
    const known = typeof schema.description === 'string' ? schema.description : ''
    const said = [words.trim(), notes.length === 0 ? '' : `(${notes.join('; ')})`, known].filter((one) => one !== '')
    if (said.length === 0 || level > this.#detail.words || longest === 0) return schema
    const description = said.join(' ').slice(0, longest)
    if (!Array.isArray(schema.anyOf)) return withDescription(schema, description)
    const [first, ...others] = schema.anyOf as readonly Schema[]
    return { anyOf: [this.#noted(first ?? {}, [], level, description), ...others] }
  }
}

function withDescription({ type, ...rest }: Schema, description: string): Schema {
  return { type, ...rest, description }
}

/** Returns one form of several: alike ones once, lists of texts as one list. */
function eitherOf(forms: readonly Schema[]): Schema {
  const flat = forms.flatMap((form) => (Array.isArray(form.anyOf) ? (form.anyOf as readonly Schema[]) : [form]))
  const enums = flat.filter(({ type, enum: values }) => type === 'string' && Array.isArray(values))
  const texts = enums.flatMap((one) => one.enum)
  const [first] = enums
  const once = flat.filter((form) => form === first || !enums.includes(form))
  const all = once.map((form) => (form === first && enums.length > 1 ? { ...form, enum: [...new Set(texts)] } : form))
  const different = [...new Map(all.map((form) => [JSON.stringify(form), form])).values()]
  const [only] = different
  return different.length === 1 && only !== undefined ? only : { anyOf: different }
}

interface FormOf {
  readonly schema: unknown
  readonly certain: boolean
}

/** Returns the properties of all forms of an object in their order, each with the schemas that they give it. */
function formsOf(reader: SchemaReader, node: Node, certain: boolean): Map<string, FormOf[]> {
  const found = new Map<string, FormOf[]>()
  const seen = new Set<string>()
  const all = formsIn(reader, { node, certain })
  const add = (name: string, part: FormOf): void => {
    const key = all.length === 1 ? name : JSON.stringify([name, part.schema])
    if (!seen.has(key))
      found
        .set(name, found.get(name) ?? [])
        .get(name)
        ?.push(part)
    seen.add(key)
  }
  for (const { node: form, certain: isCertain } of all)
    for (const [name, schema] of Object.entries(form.properties)) add(name, { schema, certain: isCertain })
  // One that is required and described nowhere may be anything.
  for (const form of all)
    for (const name of form.node.required)
      if (!found.has(name)) found.set(name, [{ schema: form.node.values ?? {}, certain: form.certain }])
  return found
}

function partsOf(reader: SchemaReader, schema: unknown): Map<string, FormOf[]> {
  return formsOf(reader, reader.node(schema), true)
}

/** Returns the names that a model must give: none that has a default or may be null, which the way back fills in. */
function requiredOf(reader: SchemaReader, node: Node, certain: boolean): readonly string[] {
  const own = node.required.filter((name) => !certain || reader.filling(propertyOf(node, name)) === undefined)
  const common = node.alternatives.map((forms) =>
    forms
      .map((form) => requiredOf(reader, reader.node(form, node.refs), false))
      .reduce((all, some) => all.filter((name) => some.includes(name))),
  )
  return [...new Set([...own, ...common.flat().filter((name) => !node.required.includes(name))])]
}

function propertyOf({ properties, values }: Node, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : values
}

/** Says which arguments go together where an object has several forms. */
function choicesNote(reader: SchemaReader, node: Node): readonly string[] {
  return node.alternatives.flatMap((forms) => {
    const sets = forms.map((form) => requiredOf(reader, reader.node(form, node.refs), false).join(' and '))
    const different = [...new Set(sets.filter((names) => names !== ''))]
    return different.length < 2 ? [] : [`needs ${different.join(', or ')}`]
  })
}

/** The values of one call that are looked at, whatever its schema and its arguments. */
const MOST_STEPS = 20_000

/** Returns the way back for one call. */
function createRestorer(root: Schema, names: Names) {
  const reader = createSchemaReader(root)
  let left = MOST_STEPS
  const known = new Map<Node, Map<string, FormOf[]>>()
  const formsAt = ({ node, certain }: Certain): Map<string, FormOf[]> => {
    const forms = known.get(node) ?? formsOf(reader, node, certain)
    known.set(node, forms)
    return forms
  }
  const object = (value: Readonly<Record<string, unknown>>, nodes: readonly Certain[]): Record<string, unknown> => {
    const forms = new Map<string, FormOf[]>()
    for (const at of nodes)
      for (const [name, found] of formsAt(at)) forms.set(name, [...(forms.get(name) ?? []), ...found])
    const required = new Set(nodes.flatMap(({ node }) => node.required))
    const restored = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
      const meant = names.given(key)
      const name = forms.has(key) || !forms.has(meant) ? key : meant
      const schemas = forms.get(name) ?? nodes.flatMap(({ node }) => [{ schema: node.values, certain: true }])
      if (forms.has(name) && isLeftOut(reader, one, schemas, required.has(name))) return []
      return [[name, restore(one, schemas)]]
    })
    const given = new Set(restored.map(([name]) => name))
    const filled = nodes.flatMap(({ node, certain }) =>
      (certain ? node.required : []).flatMap((name): [string, unknown][] => {
        const filling = given.has(name) ? undefined : reader.filling(propertyOf(node, name))
        return filling === undefined ? [] : [[name, filling.value]]
      }),
    )
    return Object.fromEntries([...restored, ...filled])
  }
  const restore = (value: unknown, schemas: readonly FormOf[]): unknown => {
    if (typeof value !== 'object' || value === null || --left < 0) return value
    const nodes = schemas.map(({ schema, certain }) => ({ node: reader.node(schema), certain }))
    if (!Array.isArray(value)) return object(value as Readonly<Record<string, unknown>>, nodes)
    const items = nodes
      .flatMap((one) => formsIn(reader, one))
      .flatMap(({ node, certain }) => (node.items === undefined ? [] : [{ schema: node.items, certain }]))
    return items.length === 0 ? value : value.map((one) => restore(one, items))
  }
  return {
    root: (args: Readonly<Record<string, unknown>>) => object(args, [{ node: reader.node(root), certain: true }]),
  }
}

interface Certain {
  readonly node: Node
  readonly certain: boolean
}

/** Returns a part with all forms that it may have. */
function formsIn(reader: SchemaReader, { node, certain }: Certain): readonly Certain[] {
  const forms = node.alternatives.flat().map((form) => ({ node: reader.node(form, node.refs), certain: false }))
  return [{ node, certain }, ...forms.flatMap((form) => formsIn(reader, form))]
}

/**
 * Returns true for null or an empty text that a model has written in the place of an argument that it leaves out: the
 * argument may be left out, and neither is a value of it.
 */
function isLeftOut(reader: SchemaReader, value: unknown, schemas: readonly FormOf[], required: boolean): boolean {
  if (value !== null && value !== '') return false
  const canBeFilled = schemas.some(({ schema, certain }) => certain && reader.filling(schema) !== undefined)
  return (!required || canBeFilled) && !schemas.some(({ schema }) => reader.takes(schema, value))
}
