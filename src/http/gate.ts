import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { errorCode, ParleyError } from '../core/errors.ts'
import { isScope, type Scope } from '../core/token.ts'
import { MAKE_TOKEN, noSuchPath } from './chat-errors.ts'
import { createBodyRoom } from './read-body.ts'
import type { ApiEnv, Rights } from './route.ts'

/** Decides who may ask: the local socket lets its one user in, TCP whoever brings a token. */
export interface ApiGuard {
  /** Throws for a request that nobody may send, before anything else is looked at. */
  check(request: Request): void
  /** Pages of others that may ask; absent where no browser comes. */
  readonly pages?: ReadonlySet<string>
  /** Returns who asks and what they may do. Throws `unauthorized` or `too_many`. */
  identify(context: ApiContext): Promise<Rights>
  /**
   * Returns the rights of a request that does not say who sends it, for a route that nobody has to say it to; undefined
   * for one that says it.
   */
  unknown(context: ApiContext): Pick<Rights, 'api' | 'scopes'> | undefined
  /** Called when such a request was refused for want of a signature. Throws `too_many` where that happens often. */
  refused(context: ApiContext): void
}

/** Those of somebody of whom nothing is known have no holder. */
type AnyRights = Pick<Rights, 'api' | 'scopes'> & Partial<Rights>

/** A request, as a guard sees it. */
export type ApiContext = Parameters<MiddlewareHandler<ApiEnv>>[0]

/** The scope that a route asks for; any token will do without one. `open`: whoever says nothing is let in as well. */
type Need = 'nothing' | { readonly scope: Scope | undefined; readonly open: boolean }

/**
 * Returns the one gate before all routes. Nothing is answered before it is known who asks, so that a path that exists
 * looks like one that does not; a route that does not say what it needs is open to nobody.
 */
export function createGate(routes: OpenAPIHono<ApiEnv>, guard: ApiGuard): MiddlewareHandler<ApiEnv> {
  const needs = needsOf(routes)
  const bodyOf = createBodyRoom()
  return async (context, next) => {
    const { req } = context
    guard.check(req.raw)
    const need = needs.get(routeOf(context))
    if (need === 'nothing') return next()
    const unknown = need?.open ? guard.unknown(context) : undefined
    const { api, scopes, ended, holder, shared }: AnyRights = unknown ?? (await known(context, need, guard))
    context.set('api', api)
    context.set('scopes', scopes)
    if (holder !== undefined) context.set('holder', holder)
    if (ended) context.set('ended', ended)
    const body = bodyOf(req, holder, shared)
    context.set('body', body)
    try {
      await next()
    } finally {
      body.release()
    }
    if (unknown !== undefined && errorCode(context.error) === 'unauthorized') guard.refused(context)
  }
}

/** Returns the rights of whoever says who they are, where these are enough. */
async function known(context: ApiContext, need: Exclude<Need, 'nothing'> | undefined, guard: ApiGuard) {
  const rights = await guard.identify(context)
  if (need === undefined) throw noSuchPath(context.req)
  if (need.scope === undefined || rights.scopes.has(need.scope)) return rights
  const remedy = need.scope === 'chat' ? ` ${MAKE_TOKEN}` : ''
  throw new ParleyError('forbidden', `This token is not for that: it has no scope ${need.scope}.${remedy}`)
}

function needsOf(routes: OpenAPIHono<ApiEnv>): ReadonlyMap<string, Need> {
  const needs = new Map<string, Need>()
  for (const { name, security } of eachRoute(routes)) {
    const need = needOf(security)
    if (need !== undefined) needs.set(name, need)
  }
  return needs
}

/** Returns every route with its name, as `routeOf` has it. */
export function eachRoute({ openAPIRegistry }: OpenAPIHono<ApiEnv>): (RouteConfig & { readonly name: string })[] {
  return openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route') return []
    const { method, path } = definition.route
    return [{ ...definition.route, name: `${method.toUpperCase()} ${path.replaceAll(/\{(.+?)\}/g, ':$1')}` }]
  })
}

/** Returns the route of a request, `GET /v1/sessions/:name`; HEAD asks for that of GET. */
export function routeOf(context: ApiContext): string {
  const { method } = context.req
  return `${method === 'HEAD' ? 'GET' : method} ${routePath(context, -1)}`
}

function needOf(security: RouteConfig['security']): Need | undefined {
  if (security?.length === 0) return 'nothing'
  const scopes = security?.[0]?.token
  const scope = scopes?.find(isScope)
  if (scopes === undefined || (scope === undefined && scopes.length > 0)) return undefined
  return { scope, open: security?.some((one) => Object.keys(one).length === 0) ?? false }
}
