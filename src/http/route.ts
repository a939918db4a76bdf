import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { ParleyError } from '../core/errors.ts'
import type { RequestId } from '../core/keyed-request.ts'
import type { ApiService } from '../core/operator.ts'
import type { Scope } from '../core/token.ts'
import type { RequestBody } from './read-body.ts'

/** The rights of a request: those of the operator on the local socket, or of the token that it brings. */
export interface Rights {
  /** Answers for the one who asks: what they may not see is not there. */
  readonly api: ApiService
  readonly scopes: ReadonlySet<Scope>
  /** Aborted once they may not any more: what they have open ends. */
  readonly ended?: AbortSignal
  /** The id of the token, or `OPERATOR_HOLDER`. */
  readonly holder: string
  /** True for the token of a namespace, which shares with those of others what bodies may hold. */
  readonly shared?: boolean
  /** The request, if it has an `Idempotency-Key`: the service makes nothing twice for it. */
  readonly once?: RequestId | undefined
}

/** The context of every handler, set by the gate of `app.ts`. */
export interface ApiEnv {
  Variables: Rights & { readonly body: RequestBody }
}

/** Returns routes whose requests are refused as `invalid`, by the name of the value, before any handler sees them. */
export function newRoutes(): OpenAPIHono<ApiEnv> {
  return new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (result.success) return
      const [issue] = result.error.issues
      throw new ParleyError('invalid', issue === undefined ? 'is not valid' : sentenceOf(issue))
    },
  })
}

/** Returns the mistake by the name of its field, a field that there is not too. */
function sentenceOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : []
  if (unknown === undefined) return `"${path.join('.')}" ${message}`
  return `"${[...path, unknown].join('.')}" is not known here`
}

/** Returns the scope that a route asks for, in the words of OpenAPI. One that declares nothing is open to nobody. */
export function needs(scope: Scope) {
  return [{ token: [scope] }]
}

/** Any valid token may ask for such a route, whatever its scopes. */
export const needsToken = [{ token: [] }]

/** Returns the answers of a route: 200 with a value of this shape, which stands in the document of the API. */
export function answersWith<Schema extends z.ZodType>(schema: Schema) {
  return { 200: { description: 'OK', content: { 'application/json': { schema } } } }
}

/** Returns the body of a route, a JSON object whatever type its header names, and what reads it before the schema. */
export function takes<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** Hands the schema a body that is within the bounds and an object. Throws as `RequestBody` does. */
export const jsonBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const { req, var: given } = context
  const body = new Uint8Array(await given.body.bytes())
  await given.body.object()
  req.raw = new Request(req.url, { method: req.method, headers: { 'content-type': 'application/json' }, body })
  await next()
}

/**
 * A name in the path. Where names are looked up, spaces around them do not count: with `%0a` behind it, it would be the
 * name of something else.
 */
export const pathText = z
  .string()
  .refine((value) => value === value.trim() && !/\p{Cc}/u.test(value), 'has characters that are in no name')

/** A value of the query that must be there. */
export const queryText = z.string('is missing').refine((value) => value.trim() !== '', 'is missing')

/** Returns an answer that took its time, unless the token of whoever waits has ended meanwhile. */
export async function stillFor<Answer>(ended: AbortSignal | undefined, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer
  if (ended?.aborted) throw new ParleyError('unauthorized', 'The token has ended.')
  return given
}

const NO_COUNT = 'must be a whole number'
/** A whole number of the query that is not negative. */
export const queryCount = z
  .string(NO_COUNT)
  .regex(/^\d+$/, NO_COUNT)
  .transform(Number)
  .refine((count) => Number.isSafeInteger(count), NO_COUNT)

/** `true` or `false`, which also stands for no value. */
export const queryFlag = z
  .enum(['true', 'false'], 'must be true or false')
  .default('false')
  .transform((value) => value === 'true')

/** A text of a body. */
export const bodyText = z.string('must be a text').refine((value) => value.trim() !== '', 'must be a text')
