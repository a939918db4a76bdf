import { createRoute, z } from '@hono/zod-openapi'
import type { OperatorService, WhyReport } from '../../core/operator.ts'
import { answers, newRoutes, queryText } from '../route.ts'

const request = { query: z.object({ message: queryText }) }
const WHY = createRoute({ method: 'get', path: '/v1/why', request, responses: answers<readonly WhyReport[]>() })
const UNSEEN = createRoute({ method: 'get', path: '/v1/unseen', request, responses: answers<readonly string[]>() })

/**
 * Serves `/v1/why?message=`, which accepts a link to a message, an inbox id, a trace id or a platform message id and
 * returns an empty list for an unknown one, and `/v1/unseen?message=`, which returns why a message may not have been
 * received.
 */
export function whyRoutes(service: OperatorService) {
  return newRoutes()
    .openapi(WHY, async ({ req, json }) => json(await service.why(req.valid('query').message), 200))
    .openapi(UNSEEN, async ({ req, json }) => json(await service.unseen(req.valid('query').message), 200))
}
