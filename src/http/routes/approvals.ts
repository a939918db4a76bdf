import { createRoute, z } from '@hono/zod-openapi'
import type { ApprovalReport } from '../../core/operate-approvals.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes, queryText } from '../route.ts'

const query = z.object({ code: queryText })
const one = answers<ApprovalReport>()
const LIST = createRoute({ method: 'get', path: '/v1/approvals', responses: answers<readonly ApprovalReport[]>() })
const APPROVE = createRoute({ method: 'post', path: '/v1/approvals/approve', request: { query }, responses: one })
const DENY = createRoute({ method: 'post', path: '/v1/approvals/deny', request: { query }, responses: one })

/** Serves the questions whether a tool may be used, and answers one by its code. */
export function approvalRoutes({ approvals }: OperatorService) {
  return newRoutes()
    .openapi(LIST, async ({ json }) => json(await approvals.list(), 200))
    .openapi(APPROVE, async ({ req, json }) => json(await approvals.decide(req.valid('query').code, 'approve'), 200))
    .openapi(DENY, async ({ req, json }) => json(await approvals.decide(req.valid('query').code, 'deny'), 200))
}
