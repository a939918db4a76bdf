/** Says what a provider finds wrong with the schema of a tool's arguments; undefined: nothing (`MODEL-FACTS.md`). */
export type SchemaRule = (schema: Record<string, unknown>) => string | undefined

type Json = Record<string, unknown>

interface Part {
  readonly schema: Json
  /** The keys from the top. */
  readonly path: readonly (string | number)[]
}

const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const MAPS = ['properties', '$defs', 'definitions', 'patternProperties']
const SINGLE = ['items', 'additionalProperties', 'not', 'propertyNames', 'if', 'then', 'else', 'contains']
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const has = (schema: Json, ...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(schema, key))
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns a schema and all parts of it. */
function partsOf(schema: Json, path: Part['path'] = []): readonly Part[] {
  const inner = Object.entries(schema).flatMap(([key, value]): Part[] => {
    if (LISTS.includes(key)) return list(value).flatMap((one, nth) => under(one, [...path, key, nth]))
    if (MAPS.includes(key) && isObject(value))
      return Object.entries(value).flatMap(([name, one]) => under(one, [...path, key, name]))
    return SINGLE.includes(key) ? under(value, [...path, key]) : []
  })
  return [{ schema, path }, ...inner]
}

function under(value: unknown, path: Part['path']): Part[] {
  return isObject(value) ? [...partsOf(value, path)] : []
}

function firstFault(schema: Json, fault: (part: Part) => string | undefined): string | undefined {
  for (const part of partsOf(schema)) {
    const found = fault(part)
    if (found !== undefined) return found
  }
  return undefined
}

/** The form that keywords have in the draft 2020-12, and the words of validators for it. */
const FORMS: readonly (readonly [keyword: string, isRight: (value: unknown) => boolean, wanted: string])[] = [
  ['type', (type) => [type].flat().every((one) => TYPES.includes(String(one))), 'under any of the given schemas'],
  ['properties', isObject, "of type 'object'"],
  ['required', Array.isArray, "of type 'array'"],
  ['required', (names) => new Set(list(names)).size === list(names).length, 'unique'],
  ['items', isSchema, "of type 'object', 'boolean'"],
  ['enum', Array.isArray, "of type 'array'"],
  ['properties', (properties) => Object.values(isObject(properties) ? properties : {}).every(isSchema), 'of schemas'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minimum', 'maximum'].map(
    (keyword) => [keyword, (value: unknown) => typeof value === 'number', "of type 'number'"] as const,
  ),
  ['pattern', (pattern) => isExpression(String(pattern)), "a 'regex'"],
]

/** Returns what is no JSON schema of the draft 2020-12. */
function notOfDraft({ schema }: Part): string | undefined {
  const wrong = FORMS.find(([keyword, isRight]) => has(schema, keyword) && !isRight(schema[keyword]))
  return wrong === undefined ? undefined : `${JSON.stringify(schema[wrong[0]])} is not ${wrong[2]}`
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean'
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Returns a reference that leads nowhere in the document. */
function lostReference(root: Json): string | undefined {
  return firstFault(root, ({ schema: { $ref } }) => {
    if (typeof $ref !== 'string') return undefined
    const found = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root)
    return $ref.startsWith('#') && found !== undefined ? undefined : $ref
  })
}

const NOT_OF_DRAFT =
  'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).'

export const anthropicSchema: SchemaRule = (schema) => {
  if (schema.type !== 'object')
    return `.type: ${schema.type === undefined ? 'Field required' : "Input should be 'object'"}`
  if (has(schema, 'oneOf', 'allOf', 'anyOf'))
    return ': input_schema does not support oneOf, allOf, or anyOf at the top level'
  const names = Object.keys(isObject(schema.properties) ? schema.properties : {})
  if (names.some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)))
    return ".properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
  const isWrong = firstFault(schema, notOfDraft) !== undefined || lostReference(schema) !== undefined
  return isWrong ? `: ${NOT_OF_DRAFT}` : undefined
}

export const openAiSchema: SchemaRule = (schema) => {
  const { type } = schema
  if (type !== 'object') return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? 'None'}"'.`
  if (schema.properties === undefined) return 'In context=(), object schema missing properties.'
  if (has(schema, 'oneOf', 'anyOf', 'allOf', 'enum', 'not'))
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
  const wrong = firstFault(schema, notOfDraft)
  if (wrong !== undefined) return `${wrong}.`
  const lost = lostReference(schema)
  if (lost !== undefined) return `In context=(), reference '${lost}' cannot be resolved.`
  return firstFault(schema, ({ schema: part, path }) => {
    if (![part.type].flat().includes('array') || has(part, 'items')) return undefined
    return `In context=(${path.map((key) => `'${key}'`).join(', ')}), array schema missing items.`
  })
}

/** The fields of Google's own form of schemas, and those that its compatible endpoint knows besides. */
const GEMINI = (
  'type format title description nullable enum items maxItems minItems properties required minProperties ' +
  'maxProperties minimum maximum minLength maxLength pattern example anyOf propertyOrdering default additionalProperties'
).split(' ')

export const geminiSchema: SchemaRule = (schema) =>
  firstFault(schema, ({ schema: part, path }) => {
    const at = ['parameters', ...path.map((key) => (typeof key === 'number' ? `[${key}]` : key))].join('.')
    const unknown = Object.keys(part).find((key) => !GEMINI.includes(key))
    if (unknown !== undefined)
      return `Invalid JSON payload received. Unknown name "${unknown}" at '${at}': Cannot find field.`
    if (part.anyOf !== undefined && Object.keys(part).length > 1)
      return `${at} schema specified other fields alongside any_of. When using any_of, it must be the only field set.`
    if (part.anyOf !== undefined) return undefined
    if (typeof part.type !== 'string' || part.type === 'null')
      return `${at} schema didn't specify the schema type field.`
    if (part.type === 'array' && !isFilled(part.items)) return `${at}.items: missing field.`
    return objectFault(part, at, path.length === 0) ?? enumFault(part, at)
  })

function objectFault({ type, properties, required }: Json, at: string, isTop: boolean): string | undefined {
  if (type !== 'object')
    return properties === undefined && required === undefined
      ? undefined
      : `${at}.properties: only allowed for OBJECT type`
  const known = Object.keys(isObject(properties) ? properties : {})
  const lost = list(required).findIndex((name) => !known.includes(String(name)))
  if (lost >= 0) return `${at}.required[${lost}]: property is not defined`
  const isEmpty = !isTop && properties !== undefined && known.length === 0
  return isEmpty ? `${at}.properties: should be non-empty for OBJECT type` : undefined
}

function isFilled(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0
}

function enumFault({ type, enum: values }: Json, at: string): string | undefined {
  if (values === undefined) return undefined
  if (type !== 'string' || list(values).length === 0) return `${at}.enum: only allowed for STRING type`
  const wrong = list(values).findIndex((value) => typeof value !== 'string')
  if (wrong >= 0) return `Invalid value at '${at}.enum[${wrong}]' (TYPE_STRING), ${JSON.stringify(list(values)[wrong])}`
  const empty = list(values).indexOf('')
  return empty < 0 ? undefined : `${at}.enum[${empty}]: cannot be empty`
}

export const kimiSchema: SchemaRule = (schema) =>
  firstFault(schema, ({ schema: part, path }) => {
    const fault = kimiFault(part)
    return fault === undefined
      ? undefined
      : `tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${path.join('.')}': ${fault}>`
  })

function kimiFault(part: Json): string | undefined {
  const { type, $ref, anyOf, enum: values } = part
  if ($ref !== undefined && !/^#(\/\$defs\/.+)?$/.test(String($ref))) return 'references must start with #/$defs/'
  if ($ref !== undefined && type !== undefined)
    return 'when using $ref, type should be defined in the referenced schema instead of the parent schema'
  if (anyOf !== undefined && type !== undefined)
    return 'when using anyOf, type should be defined in anyOf items instead of the parent schema'
  if (type !== undefined && typeof type !== 'string') return 'type must be a string'
  if ($ref === undefined && anyOf === undefined && type === undefined) return 'type is not defined'
  if (values !== undefined && new Set(list(values).map((value) => typeof value)).size !== 1)
    return 'enum values must be of one type'
  return undefined
}

/** A grammar is made of all tools of a request together; one that cannot be made ends it. */
export const llamaCppSchema: SchemaRule = (schema) => {
  const lost = lostReference(schema)
  if (lost !== undefined) return `JSON schema conversion failed:\nError resolving ref ${lost}`
  return firstFault(schema, ({ schema: part, path }) => {
    const { pattern, maxLength, maxItems, type, properties } = part
    if (typeof pattern === 'string' && !/^\^.*\$$/s.test(pattern))
      return "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"
    const isHuge = Math.max(Number(maxLength ?? 0), Number(maxItems ?? 0)) >= 2_000
    const isUnknown = typeof pattern === 'string' && /\\[dDwWsSpPbB]|\(\?/.test(pattern)
    const isEmpty = path.length > 0 && type === 'object' && isObject(properties) && Object.keys(properties).length === 0
    return isHuge || isUnknown || isEmpty ? 'Failed to initialize samplers: failed to parse grammar' : undefined
  })
}
