/** A JSON schema, or a part of one, as somebody else has written it. */
export type Schema = Readonly<Record<string, unknown>>

/** A part of a schema with its references followed and what it is put together of in one. */
export interface Node {
  /** Its keywords. */
  readonly schema: Schema
  /** The JSON types but null that it may have; none: any. */
  readonly types: readonly string[]
  readonly nullable: boolean
  /** Null is the only value. */
  readonly onlyNull: boolean
  readonly properties: Schema
  readonly required: readonly string[]
  /** The schema of the elements of a list. */
  readonly items: unknown
  /** The schema of the values of an object whose names are free. */
  readonly values: unknown
  /** Each time several forms, one of which it has. */
  readonly alternatives: readonly (readonly unknown[])[]
  /** The alternatives say more of one object, they are no forms of their own. */
  readonly isOneObject: boolean
  /** The texts that it is one of; none: any text. */
  readonly texts: readonly string[]
  /** Its own words about itself. */
  readonly words: string
  /** The sense of those of its keywords that not every provider takes. */
  readonly notes: readonly string[]
  /** The references that were followed to get here. */
  readonly refs: readonly string[]
}

export interface SchemaReader {
  /** A reference to another document was met. */
  readonly elsewhere: boolean
  /** Returns a part; one that is described within itself, as `within` says, has its type alone. */
  node(schema: unknown, within?: readonly string[]): Node
  /** Returns the value of an argument that is left out though it is required; undefined: it has to be given. */
  filling(schema: unknown): { readonly value: unknown } | undefined
  /** Returns true if a value has a type of the part, and is one of those that it lists. */
  takes(schema: unknown, value: unknown): boolean
}

/** Parts that are put together for one tool, or one call, with their properties and forms: references may multiply. */
const MOST_READ = 4_000
/** One within the other. */
const MOST_REFS = 32

/** The words for types in JSON schema, and those of languages that schemas are made of. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ['string', 'str', 'text', 'char', 'date', 'datetime', 'time', 'uuid', 'uri', 'url', 'email', 'file', 'enum'],
  integer: ['integer', 'int', 'int8', 'int16', 'int32', 'int64', 'uint', 'uint8', 'uint16', 'uint32', 'uint64', 'long'],
  number: ['number', 'float', 'float32', 'float64', 'double', 'decimal', 'numeric'],
  boolean: ['boolean', 'bool'],
  array: ['array', 'list', 'tuple', 'set', 'sequence'],
  object: ['object', 'dict', 'dictionary', 'map', 'record', 'struct'],
  null: ['null', 'none', 'nil'],
}
const TYPE_OF = new Map(Object.entries(TYPES).flatMap(([type, words]) => words.map((word) => [word, type])))

/** The keywords that speak of values of one type only. */
const SPOKEN_OF: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]
const NOTED = [...SPOKEN_OF.slice(1).flatMap(([, keywords]) => keywords), 'default']
const UNNOTED = ['items', 'prefixItems']
const LONGEST_NOTE = 200

/** Returns a reader of the parts of a schema, which must be one that somebody has measured. */
export function createSchemaReader(root: Schema): SchemaReader {
  return new Reader(root)
}

class Reader implements SchemaReader {
  readonly #root: Schema
  /** The parts that were put together, by the references around them. */
  readonly #known = new WeakMap<object, Map<string, Node>>()
  readonly #pairs = new WeakMap<object, WeakMap<object, Schema>>()
  #left = MOST_READ
  #elsewhere = false

  constructor(root: Schema) {
    this.#root = root
  }

  get elsewhere(): boolean {
    return this.#elsewhere
  }

  node(schema: unknown, within: readonly string[] = []): Node {
    const around = within.join(' ')
    const known = isRecord(schema) ? (this.#known.get(schema) ?? new Map<string, Node>()) : undefined
    const before = known?.get(around)
    if (before !== undefined) return before
    const read = this.#left < 0 ? NOTHING : this.#read(schema, within)
    this.#left -= sizeOf(read)
    const node = nodeOf({ ...read, refs: [...within, ...read.refs] })
    if (isRecord(schema) && known !== undefined) this.#known.set(schema, known.set(around, node))
    return node
  }

  filling(schema: unknown): { readonly value: unknown } | undefined {
    const { schema: keywords, nullable } = this.node(schema)
    if (Object.hasOwn(keywords, 'default') && this.takes(schema, keywords.default)) return { value: keywords.default }
    return nullable ? { value: null } : undefined
  }

  takes(schema: unknown, value: unknown, within: readonly string[] = []): boolean {
    const { types, nullable, onlyNull, alternatives, schema: keywords, isOneObject, refs } = this.node(schema, within)
    if (value === null) return nullable || (types.length === 0 && alternatives.length === 0 && !hasValues(keywords))
    if (onlyNull) return false
    if (alternatives.length > 0 && !isOneObject)
      return alternatives.some((forms) => forms.some((form) => this.takes(form, value, refs)))
    const type = typeOfValue(value)
    const isTyped = types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'))
    const values = valuesOf(keywords)
    const isListed = values.length === 0 || values.some((one) => JSON.stringify(one) === JSON.stringify(value))
    return isTyped && isListed
  }

  /** Puts a part together: what it refers to, all that it has to be, and what it says itself, which goes before. */
  #read(schema: unknown, within: readonly string[]): Read {
    if (typeof schema === 'string') return { ...NOTHING, schema: { type: schema } }
    if (!isRecord(schema) || --this.#left < 0) return NOTHING
    const { $ref, allOf, anyOf, oneOf, if: _if, then: so, else: otherwise, ...own } = schema
    const parts = [this.#referred($ref, within), ...listOf(allOf).map((part) => this.#read(part, within))]
    const base = [...parts, { ...NOTHING, schema: own }].reduce((one, other) => this.#merged(one, other))
    const conditional = [so, otherwise].filter(isRecord)
    const unions = [anyOf, oneOf, conditional.length === 0 ? undefined : [...conditional, {}]].map(listOf)
    return unions.reduce((one, forms) => this.#withForms(one, forms, within), base)
  }

  #withForms(base: Read, forms: readonly unknown[], within: readonly string[]): Read {
    const real = forms.filter((form) => form !== false && !isNull(form))
    const nullable = base.nullable || forms.some(isNull)
    if (real.length === 0) return { ...base, nullable }
    const [only] = real
    if (real.length === 1) return { ...this.#merged(this.#read(only, within), base), nullable }
    return { ...base, nullable, alternatives: [...base.alternatives, real.map((form) => withTypeOf(base, form))] }
  }

  #referred($ref: unknown, within: readonly string[]): Read {
    if (typeof $ref !== 'string') return NOTHING
    if (!$ref.startsWith('#')) this.#elsewhere = true
    const target = pointed(this.#root, $ref)
    if (!isRecord(target)) return NOTHING
    if (within.includes($ref) || within.length >= MOST_REFS)
      return { ...NOTHING, schema: { type: target.type ?? typesIn(target)[0] } }
    const read = this.#read(target, [...within, $ref])
    return { ...read, refs: [$ref, ...read.refs] }
  }

  #merged(one: Read, other: Read): Read {
    const properties = { ...recordOf(one.schema.properties) }
    const more = Object.entries(recordOf(other.schema.properties)).map(([name, schema]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, this.#both(known, schema)] as const
    })
    const required = [...requiredIn(one.schema), ...requiredIn(other.schema)]
    const keywords = Object.fromEntries(Object.entries(other.schema).filter(([, value]) => value !== undefined))
    return {
      schema: {
        ...{ ...one.schema, ...keywords },
        ...(one.schema.properties === undefined && more.length === 0
          ? {}
          : { properties: { ...properties, ...Object.fromEntries(more) } }),
        ...(required.length === 0 ? {} : { required }),
      },
      nullable: one.nullable || other.nullable,
      alternatives: [...one.alternatives, ...other.alternatives],
      refs: [...one.refs, ...other.refs],
    }
  }

  /** Returns the same schema for the same two, so that what is known of it is found again. */
  #both(one: unknown, other: unknown): unknown {
    if (!isRecord(one) || one === other) return other
    if (!isRecord(other)) return one
    const pairs = this.#pairs.get(one) ?? new WeakMap<object, Schema>()
    this.#pairs.set(one, pairs)
    const both = pairs.get(other) ?? { allOf: [one, other] }
    pairs.set(other, both)
    return both
  }
}

/** A part that was put together, before its keywords are looked at. */
interface Read {
  readonly schema: Schema
  readonly nullable: boolean
  readonly alternatives: readonly (readonly unknown[])[]
  readonly refs: readonly string[]
}

/** Returns the work that a part makes: itself, its properties, what it requires and its forms. */
function sizeOf({ schema, alternatives }: Read): number {
  const forms = alternatives.reduce((sum, { length }) => sum + length, 0)
  return 1 + Object.keys(recordOf(schema.properties)).length + listOf(schema.required).length + forms
}

const NOTHING: Read = { schema: {}, nullable: false, alternatives: [], refs: [] }

function nodeOf({ schema, nullable, alternatives, refs }: Read): Node {
  const all = typesIn(schema)
  const values = valuesOf(schema)
  const isNullable =
    nullable || all.includes('null') || schema.nullable === true || (hasValues(schema) && values.includes(null))
  const types = all.filter((type) => type !== 'null' && !(type === 'integer' && all.includes('number')))
  const onlyNull = alternatives.length === 0 && types.length === 0 && (all.length > 0 || isNull(schema))
  const properties = propertiesIn(schema)
  const texts = values.every((value) => typeof value === 'string' || value === null) ? values.filter(isText) : []
  return {
    ...{ schema, types, nullable: isNullable, onlyNull, properties, alternatives, refs, texts },
    isOneObject: types.includes('object') && alternatives.flat().every((form) => isMore(schema, form)),
    required: requiredIn(schema),
    items: itemsIn(schema),
    values: [schema.additionalProperties, ...Object.values(recordOf(schema.patternProperties))].find(isFilled),
    words: [schema.description, schema.title].find(isText) ?? '',
    notes: notesOf(schema, types, texts, isNullable),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFilled(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0
}

function recordOf(value: unknown): Schema {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isNull(form: unknown): boolean {
  if (!isRecord(form)) return false
  const values = valuesOf(form)
  return (
    [form.type].flat().every((type) => typeWord(type) === 'null') ||
    (hasValues(form) && values.every((one) => one === null))
  )
}

function typeWord(type: unknown): string | undefined {
  const [word = ''] = typeof type === 'string' ? (/^\w+/.exec(type.toLowerCase()) ?? []) : []
  return TYPE_OF.get(word)
}

/** Returns the types of a part: those that it says, else those of its values, else the one its keywords speak of. */
function typesIn(schema: Schema): readonly string[] {
  const said = schema.type === undefined ? [] : [schema.type].flat().map(typeWord)
  if (said.length > 0) return said.includes(undefined) ? [] : [...new Set(said as readonly string[])]
  if (hasValues(schema)) return [...new Set(valuesOf(schema).map(typeOfValue))]
  const spoken = SPOKEN_OF.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))
  return spoken === undefined ? [] : [spoken[0]]
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function hasValues(schema: Schema): boolean {
  return Object.hasOwn(schema, 'const') || listOf(schema.enum).length > 0
}

/** Returns the values that a part is one of; none: any. */
function valuesOf(schema: Schema): readonly unknown[] {
  return Object.hasOwn(schema, 'const') ? [schema.const] : [...new Set(listOf(schema.enum))]
}

function propertiesIn(schema: Schema): Schema {
  const all = Object.entries(recordOf(schema.properties))
  return Object.fromEntries(all.filter(([name, property]) => property !== false && !isMisplaced(name, property)))
}

/** Keywords that are written among the properties by mistake. */
const MISPLACED = ['type', 'title', 'description', 'additionalProperties', '$schema', '$id']

/** Returns true for what is the value of a keyword, and describes no argument. */
function isMisplaced(name: string, property: unknown): boolean {
  if (isRecord(property) || property === null) return false
  if (typeof property === 'string') return MISPLACED.includes(name) || !TYPE_OF.has(property.toLowerCase())
  return property !== true || MISPLACED.includes(name)
}

/** Returns the required names; in the oldest draft the property says it of itself. */
function requiredIn(schema: Schema): readonly string[] {
  const misplaced = listOf(recordOf(schema.properties).required)
  const named = [...listOf(schema.required), ...misplaced].filter((name) => typeof name === 'string')
  const marked = Object.entries(recordOf(schema.properties)).filter(([, one]) => isRecord(one) && one.required === true)
  return [...new Set([...named, ...marked.map(([name]) => name)])]
}

/** Returns the schema of the elements; of a list of several in their order, one that takes each. */
function itemsIn({ items, prefixItems }: Schema): unknown {
  const places = [...listOf(prefixItems), ...listOf(items)]
  const others = isFilled(items) ? [items] : []
  if (places.length === 0) return others[0]
  return { anyOf: [...places, ...others] }
}

/** Returns true for a form that has no type of its own and says more of an object. */
function isMore(base: Schema, form: unknown): boolean {
  if (Object.keys(recordOf(base.properties)).length > 0) return true
  const { type, $ref } = recordOf(form)
  return $ref === undefined && (type === undefined || (type === base.type && !isFilled(recordOf(form).properties)))
}

/** A form that says no type has that of the whole. */
function withTypeOf({ schema: { type, items } }: Read, form: unknown): unknown {
  if (!isRecord(form) || type === undefined) return form
  if (['type', '$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => form[keyword] !== undefined)) return form
  return { type, ...(items === undefined ? {} : { items }), ...form }
}

/** Follows a reference within a document; undefined for one that leads nowhere. */
function pointed(root: Schema, $ref: string): unknown {
  if ($ref !== '#' && !$ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const step of $ref.split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined
  }
  return at
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function notesOf(schema: Schema, types: readonly string[], texts: readonly string[], nullable: boolean): string[] {
  const values = valuesOf(schema)
  const notes = NOTED.flatMap((keyword) => {
    const value = schema[keyword]
    const isIdle = value === undefined || value === null || UNNOTED.includes(keyword) || isBoundOfNumbers(value)
    return isIdle || (keyword === 'format' && !types.includes('string')) ? [] : noteOf(keyword, value)
  })
  if (values.length > 0 && texts.length === 0) notes.push(...noteOf('one of', values))
  else if (values.includes('')) notes.push('may be empty')
  if (nullable && schema.default !== null) notes.push('may be null')
  return notes
}

/** The bounds that libraries write for a whole number without bounds. */
function isBoundOfNumbers(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER
}

function noteOf(keyword: string, value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_NOTE ? [] : [`${keyword}: ${text}`]
}
