import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryText } from '../route.ts'
import { approval, approvals } from '../schemas/approvals.ts'

const query = z.object({ code: queryText })
const one = answersWith(approval)
const LIST = createRoute({
  operationId: 'approval.list',
  summary: 'The calls of tools that wait for a yes or no, the oldest first',
  method: 'get',
  path: '/v1/approvals',
  security: needs('operate:read'),
  responses: answersWith(approvals),
})
const APPROVE = createRoute({
  operationId: 'approval.approve',
  summary: 'Allows a call, by its code',
  method: 'post',
  path: '/v1/approvals/approve',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})
const DENY = createRoute({
  operationId: 'approval.deny',
  summary: 'Refuses a call, by its code',
  method: 'post',
  path: '/v1/approvals/deny',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})

/** Serves the questions whether a tool may be used, and answers one by its code. */
export function approvalRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.approvals.list(), 200))
    .openapi(APPROVE, async ({ req, json, var: { api } }) =>
      json(await api.approvals.decide(req.valid('query').code, 'approve'), 200),
    )
    .openapi(DENY, async ({ req, json, var: { api } }) =>
      json(await api.approvals.decide(req.valid('query').code, 'deny'), 200),
    )
}
