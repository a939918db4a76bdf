import { createRoute, z } from '@hono/zod-openapi'
import type { AdmissionReport } from '../../core/operate-admissions.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes, queryText } from '../route.ts'

const query = z.object({ name: queryText })
const one = answers<AdmissionReport>()
const LIST = createRoute({ method: 'get', path: '/v1/admissions', responses: answers<readonly AdmissionReport[]>() })
const ADMIT = createRoute({ method: 'post', path: '/v1/admissions/admit', request: { query }, responses: one })
const DENY = createRoute({ method: 'post', path: '/v1/admissions/deny', request: { query }, responses: one })

/** Serves who asked to be let in, and decides about one by code or key. */
export function admissionRoutes({ admissions }: OperatorService) {
  return newRoutes()
    .openapi(LIST, async ({ json }) => json(await admissions.list(), 200))
    .openapi(ADMIT, async ({ req, json }) => json(await admissions.decide(req.valid('query').name, 'admit'), 200))
    .openapi(DENY, async ({ req, json }) => json(await admissions.decide(req.valid('query').name, 'deny'), 200))
}
