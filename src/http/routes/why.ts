import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryText } from '../route.ts'
import { texts } from '../schemas/shape.ts'
import { why } from '../schemas/why.ts'

const request = { query: z.object({ message: queryText }) }
const WHY = createRoute({
  operationId: 'message.why',
  summary: 'Why a message was answered or not',
  method: 'get',
  path: '/v1/why',
  security: needs('operate:read'),
  request,
  responses: answersWith(why),
})
const UNSEEN = createRoute({
  operationId: 'message.unseen',
  summary: 'Why a message may never have been received',
  method: 'get',
  path: '/v1/unseen',
  security: needs('operate:read'),
  request,
  responses: answersWith(texts),
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
