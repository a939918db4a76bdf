import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { ParleyError } from '../core/errors.ts'
import { isScope, type Scope } from '../core/token.ts'
import type { ApiEnv, Rights } from './route.ts'

/** Decides who may ask: the local socket lets its one user in, TCP whoever brings a token. */
export interface ApiGuard {
  /** Throws for a request that nobody may send, before anything else is looked at. */
  check(request: Request): void
  /** Pages of others that may ask; absent where no browser comes. */
  readonly pages?: ReadonlySet<string>
  /** Returns who asks and what they may do. Throws `unauthorized` or `too_many`. */
  identify(context: ApiContext): Promise<Rights>
}

/** A request, as a guard sees it. */
export type ApiContext = Parameters<MiddlewareHandler<ApiEnv>>[0]

/** The one scope that a route asks for, any valid token, or nothing. */
type Need = 'nothing' | 'token' | Scope

/**
 * Returns the one gate before all routes. Nothing is answered before it is known who asks, so that a path that exists
 * looks like one that does not; a route that does not say what it needs is open to nobody.
 */
export function createGate(routes: OpenAPIHono<ApiEnv>, guard: ApiGuard): MiddlewareHandler<ApiEnv> {
  const needs = needsOf(routes)
  return async (context, next) => {
    const { req } = context
    guard.check(req.raw)
    const method = req.method === 'HEAD' ? 'GET' : req.method
    const need = needs.get(`${method} ${routePath(context, -1)}`)
    if (need === 'nothing') return next()
    const { api, scopes, ended, holder } = await guard.identify(context)
    if (need === undefined) throw new ParleyError('not_found', `There is no ${req.method} ${req.path}`)
    if (need !== 'token' && !scopes.has(need))
      throw new ParleyError('forbidden', `This token is not for that: it has no scope ${need}.`)
    context.set('api', api)
    context.set('scopes', scopes)
    context.set('holder', holder)
    if (ended) context.set('ended', ended)
    return next()
  }
}

function needsOf({ openAPIRegistry }: OpenAPIHono<ApiEnv>): ReadonlyMap<string, Need> {
  const needs = new Map<string, Need>()
  for (const definition of openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue
    const { method, path, security } = definition.route
    const need = needOf(security)
    if (need !== undefined) needs.set(`${method.toUpperCase()} ${path.replaceAll(/\{(.+?)\}/g, ':$1')}`, need)
  }
  return needs
}

function needOf(security: RouteConfig['security']): Need | undefined {
  if (security?.length === 0) return 'nothing'
  const scopes = security?.[0]?.token
  return scopes?.length === 0 ? 'token' : scopes?.find(isScope)
}
