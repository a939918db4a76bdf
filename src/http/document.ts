import type { OpenAPIHono } from '@hono/zod-openapi'
import { ERROR_CODES } from './errors.ts'
import type { ApiEnv } from './route.ts'

/** The document of the API, as OpenAPI 3.1 has it: the parts that this program reads itself. */
export interface ApiDocument {
  readonly openapi: string
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, { readonly description: string }>>
  }
}

export interface DocumentedOperation {
  readonly operationId: string
  readonly summary?: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: object
  /** An error refers to those that all operations share. */
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly $ref?: string }>>
}

const DESCRIPTION = [
  'Everything that can be asked of Parley. On the local socket the operator asks, without a token; on TCP whoever brings',
  'one: `Authorization: Bearer <token>`, made by `parley token create`. The scopes of a route are those that a token needs.',
  'A route without security is open to everybody. Times are ms since the epoch. An answer may hold more fields than are',
  'here, and other words where words are listed, once the daemon is newer. A request with an effect may carry the header',
  '`Idempotency-Key`: the same request with the same key has its effect once in a day, and is answered as the first was.',
].join(' ')

const LICENSE = { name: 'MIT License', identifier: 'MIT' }
/** An address relative to that of the document, `/v1/openapi.json`, is right below the path of a proxy as well. */
const SERVER = { url: '..', description: 'The server of this document' }

/** Returns the document of these routes. The same routes give the same text. */
export function describeApi(routes: OpenAPIHono<ApiEnv>, version: string): ApiDocument {
  const { info, openapi, servers, paths, components } = routes.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Parley', version, description: DESCRIPTION, license: LICENSE },
    servers: [SERVER],
  }) as unknown as ApiDocument
  return {
    openapi,
    info,
    servers,
    paths: eachOperation(paths, withErrors),
    components: {
      schemas: { ...components.schemas, Error: ERROR },
      responses: ERRORS,
      ...{ securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of Parley' } } },
    },
  }
}

const ERROR = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: ERROR_CODES },
        message: { type: 'string', description: 'For people: the cause, and the remedy where there is one' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
}

/** The answers to what fails, by status. */
const MEANINGS = {
  400: 'A value is missing or malformed, which the message names; or a token stands in the address',
  401: 'No valid token',
  403: 'The token lacks the scope, or the host or page is not allowed',
  404: 'There is nothing of that name for this token',
  409: 'It cannot be done as things are',
  410: 'The place in the stream is gone: read the history, then follow anew',
  413: 'The body is too long',
  429: 'Too many requests, or a limit of turns or money',
  500: 'The daemon failed; its log says why',
  503: 'It cannot be answered now',
  default: 'Any other failure',
}

const ERRORS: ApiDocument['components']['responses'] = Object.fromEntries(
  Object.entries(MEANINGS).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]),
)

function withErrors({ operationId, ...operation }: DocumentedOperation, method: string): DocumentedOperation {
  const { parameters, requestBody, security, responses } = operation
  const open = security?.length === 0
  const statuses = [
    ...(open ? [400, 403] : [400, 401, 403]),
    ...(parameters === undefined ? [] : [404]),
    ...(method === 'get' ? [] : [409]),
    ...(parameters?.some(({ name }) => name === 'last-event-id') ? [410] : []),
    ...(requestBody === undefined ? [] : [413]),
    ...(open ? [] : [429]),
    ...[500, 503, 'default'],
  ]
  const errors = Object.fromEntries(statuses.map((status) => [status, errorOf(status, responses.default)]))
  return {
    operationId,
    ...operation,
    tags: [operationId.split('.')[0] ?? operationId],
    responses: { ...errors, ...responses },
  }
}

/** A route whose errors have a form of their own says so by its default. */
function errorOf(status: number | string, own: DocumentedOperation['responses'][string] | undefined): object {
  if (own === undefined) return { $ref: `#/components/responses/${status}` }
  return { ...own, description: MEANINGS[status as keyof typeof MEANINGS] }
}

function eachOperation(
  paths: ApiDocument['paths'],
  change: (operation: DocumentedOperation, method: string) => DocumentedOperation,
): ApiDocument['paths'] {
  const of = ([path, methods]: [string, ApiDocument['paths'][string]]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, change(operation, method)])),
  ]
  return Object.fromEntries(Object.entries(paths).map(of))
}
