import type { MiddlewareHandler } from 'hono'
import { errorCode } from '../core/errors.ts'
import type { ApiGuard } from './gate.ts'
import type { ApiEnv } from './route.ts'

const METHODS = 'GET, POST, PATCH, DELETE'
/** The official clients of OpenAI send a dozen of their own, which `*` stands for, as it does not for Authorization. */
const HEADERS = 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, *'
/** Without them such a client repeats what it should not. */
const SHOWN = 'Idempotent-Replayed, Retry-After, X-Request-Id, X-Should-Retry'
/** A browser asks again after ten minutes. */
const ASKS_AGAIN_S = '600'

/**
 * Lets the pages of `http.origins` read answers, and no others. A page sends its token itself: no credentials of the
 * browser are taken. The answer to what a browser asks beforehand is the same for every path, so that it does not say
 * which paths there are.
 */
export function createCors({ check, pages }: ApiGuard): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { req } = context
    const origin = req.header('origin') ?? ''
    const allowed = (pages?.has(origin) ?? false) && isForUs(check, req.raw)
    if (allowed && req.method === 'OPTIONS' && req.header('access-control-request-method') !== undefined) {
      check(req.raw)
      const asksLocally = req.header('access-control-request-private-network') === 'true'
      return context.body(null, 204, {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': HEADERS,
        'access-control-max-age': ASKS_AGAIN_S,
        ...(asksLocally ? { 'access-control-allow-private-network': 'true' } : {}),
        vary: 'Origin',
      })
    }
    if (pages === undefined) return next()
    const mark = (): void => {
      context.header('vary', 'Origin')
      if (!allowed) return
      context.header('access-control-allow-origin', origin)
      context.header('access-control-expose-headers', SHOWN)
    }
    // A stream has sent its headers by the time that the others are added to.
    mark()
    await next()
    mark()
    return undefined
  }
}

/** Returns false for a request that was sent to a name which is not ours: its answer, a refusal, is for no page. */
function isForUs(check: ApiGuard['check'], request: Request): boolean {
  try {
    check(request)
    return true
  } catch (error) {
    return errorCode(error) !== 'forbidden'
  }
}
