import { createRoute, z } from '@hono/zod-openapi'
import type { ApprovalReport } from '../../core/operate-approvals.ts'
import { answers, needs, newRoutes, queryText } from '../route.ts'

const query = z.object({ code: queryText })
const one = answers<ApprovalReport>()
const LIST = createRoute({
  method: 'get',
  path: '/v1/approvals',
  security: needs('operate:read'),
  responses: answers<readonly ApprovalReport[]>(),
})
const APPROVE = createRoute({
  method: 'post',
  path: '/v1/approvals/approve',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})
const DENY = createRoute({
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
