import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Logger } from '../core/logger.ts'
import { OPERATOR_HOLDER, tokenDoer } from '../core/token.ts'
import { routeOf } from './gate.ts'
import { NOT_KEPT } from './idempotency.ts'
import type { ApiEnv } from './route.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Characters of a path that are recorded: nobody fills the log with it. */
const MOST_PATH = 300

/**
 * Records in the log which token has changed something, and what of it: rows say so for approvals and admissions alone,
 * and whoever looks into a theft has to know the rest.
 */
export function createRecorder(logger: Logger): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { req } = context
    const holder: string | undefined = context.get('holder')
    if (holder === undefined || holder === OPERATOR_HOLDER || READS.has(req.method)) return next()
    const asked = { method: req.method, route: routePath(context, -1), path: req.path.slice(0, MOST_PATH) }
    const line = { by: tokenDoer(holder), ...asked }
    // A kill behind the change would leave no line of it; of a text there is a row.
    if (NOT_KEPT[routeOf(context)] !== 'effect') logger.info('A token asks for a change', line)
    await next()
    logger.info('A token has asked for a change', { ...line, status: context.res.status })
  }
}
