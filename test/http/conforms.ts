import { createRoutes } from '../../src/http/app.ts'
import { describeApi } from '../../src/http/document.ts'

/** The document of the routes as they are, of any version. */
export const DOCUMENT = describeApi(createRoutes(), '0.0.0')

interface Schema {
  readonly [keyword: string]: unknown
}

const COMPONENTS = DOCUMENT.components as unknown as Readonly<Record<string, Readonly<Record<string, Schema>>>>

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...{ method, operation, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) },
  })),
)

/** An answer of the API as it came: its body is JSON, or text where it is none. */
export interface SeenAnswer {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly status: number | undefined
  readonly body: unknown
}

/**
 * Returns what the document does not say of an answer, strictly: a field or a word that it does not name is a mistake
 * of the document. Of a path that is none only the error is looked at.
 */
export function undocumented({ method, path, status = 0, body }: SeenAnswer): readonly string[] {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const [asked = ''] = path.split('?')
  const found = OPERATIONS.find((one) => one.method === verb && one.path.test(asked))
  const { $ref, ...own } = (found?.operation.responses[status] ??
    found?.operation.responses[status < 400 ? 'none' : 'default'] ??
    {}) as Schema
  const response = typeof $ref === 'string' ? componentOf($ref) : own
  if (found !== undefined && response.content === undefined) return [`${status} is no answer of ${method} ${asked}`]
  const json = (response.content as Readonly<Record<string, { readonly schema: Schema }>> | undefined)?.[
    'application/json'
  ]
  if (found !== undefined && json === undefined) return typeof body === 'string' ? [] : ['it is no text']
  return mistakes(json?.schema ?? { $ref: '#/components/schemas/Error' }, body, `${status}`)
}

/** The keywords of a schema that are looked at; another one is a mistake of this file. */
const KNOWN = new Set([
  ...['$ref', 'type', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'description'],
  ...['minimum', 'maximum'],
])

function mistakes(schema: Schema, value: unknown, at: string): readonly string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword))
  if (unknown.length > 0) throw new Error(`Nothing here knows ${unknown.join(', ')} of a schema.`)
  const { $ref, type, enum: words, anyOf, items } = schema
  if (typeof $ref === 'string') return mistakes(componentOf($ref), value, at)
  if (Array.isArray(anyOf)) {
    const each = anyOf.map((one: Schema) => mistakes(one, value, at))
    return each.some((one) => one.length === 0) ? [] : [`${at} is none of those: ${each.flat().join('; ')}`]
  }
  if (Array.isArray(words) && !words.includes(value))
    return [`${at} is ${JSON.stringify(value)}, not ${words.join('|')}`]
  if (type === 'array' && Array.isArray(value))
    return value.flatMap((one, index) => mistakes(items as Schema, one, `${at}[${index}]`))
  if (type === 'object' && isObject(value)) return mistakesOfFields(schema, value, at)
  return type === undefined || isPlain(schema, value) ? [] : [`${at} is no such ${type}`]
}

function isPlain(
  { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Schema,
  value: unknown,
) {
  if (typeof value === 'number') return type === 'number' && value >= Number(minimum) && value <= Number(maximum)
  if (type === 'null') return value === null
  return typeof value === type && typeof value !== 'object'
}

function mistakesOfFields(schema: Schema, value: Readonly<Record<string, unknown>>, at: string): readonly string[] {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
    readonly additionalProperties?: Schema
  }
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`)
  const wrong = Object.entries(value).flatMap(([name, one]) => {
    const of = properties[name] ?? additionalProperties
    return of === undefined ? [`${at}.${name} is not in the document`] : mistakes(of, one, `${at}.${name}`)
  })
  return [...missing, ...wrong]
}

function componentOf(ref: string): Schema {
  const [, , kind = '', name = ''] = ref.split('/')
  const found = COMPONENTS[kind]?.[name]
  if (found === undefined) throw new Error(`There is no ${ref}.`)
  return found
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
