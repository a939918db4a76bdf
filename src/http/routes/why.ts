import { createRoute, z } from '@hono/zod-openapi'
import type { WhyReport } from '../../core/operator.ts'
import { answers, needs, newRoutes, queryText } from '../route.ts'

const request = { query: z.object({ message: queryText }) }
const WHY = createRoute({
  method: 'get',
  path: '/v1/why',
  security: needs('operate:read'),
  request,
  responses: answers<readonly WhyReport[]>(),
})
const UNSEEN = createRoute({
  method: 'get',
  path: '/v1/unseen',
  security: needs('operate:read'),
  request,
  responses: answers<readonly string[]>(),
})

/**
 * Serves `/v1/why?message=`, which accepts a link to a message, an inbox id, a trace id or a platform message id and
 * returns an empty list for an unknown one, and `/v1/unseen?message=`, which returns why a message may not have been
 * received.
 */
export function whyRoutes() {
  return newRoutes()
    .openapi(WHY, async ({ req, json, var: { api } }) => json(await api.why(req.valid('query').message), 200))
    .openapi(UNSEEN, async ({ req, json, var: { api } }) => json(await api.unseen(req.valid('query').message), 200))
}
