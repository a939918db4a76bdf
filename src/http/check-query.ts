import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { ParleyError } from '../core/errors.ts'
import { isChatPath } from './chat-errors.ts'
import { eachRoute, routeOf } from './gate.ts'
import type { ApiEnv } from './route.ts'

/**
 * Returns what refuses a value of the query that a route does not know, or that is given twice, by its name: a word
 * that is spelled wrong would change what is answered, in silence. Clients of OpenAI may add what they like.
 */
export function createQueryCheck(routes: OpenAPIHono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  const known = new Map<string, ReadonlySet<string>>()
  for (const { name, request } of eachRoute(routes)) {
    const query = request?.query
    known.set(name, new Set(query instanceof z.ZodObject ? Object.keys(query.shape) : []))
  }
  return async (context, next) => {
    const { path, url } = context.req
    if (!isChatPath(path)) checkQuery(new URL(url).searchParams, known.get(routeOf(context)))
    await next()
  }
}

function checkQuery(query: URLSearchParams, known: ReadonlySet<string> | undefined): void {
  const seen = new Set<string>()
  for (const name of query.keys()) {
    if (!known?.has(name)) throw new ParleyError('invalid', `"${name}" is not known here`)
    if (seen.has(name)) throw new ParleyError('invalid', `"${name}" may be given only once`)
    seen.add(name)
  }
}
