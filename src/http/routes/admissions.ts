import { createRoute, z } from '@hono/zod-openapi'
import type { AdmissionReport } from '../../core/operate-admissions.ts'
import { answers, needs, newRoutes, queryText } from '../route.ts'

const query = z.object({ name: queryText })
const one = answers<AdmissionReport>()
const LIST = createRoute({
  method: 'get',
  path: '/v1/admissions',
  security: needs('operate:read'),
  responses: answers<readonly AdmissionReport[]>(),
})
const ADMIT = createRoute({
  method: 'post',
  path: '/v1/admissions/admit',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})
const DENY = createRoute({
  method: 'post',
  path: '/v1/admissions/deny',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})

/** Serves who asked to be let in, and decides about one by code or key. */
export function admissionRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.admissions.list(), 200))
    .openapi(ADMIT, async ({ req, json, var: { api } }) =>
      json(await api.admissions.decide(req.valid('query').name, 'admit'), 200),
    )
    .openapi(DENY, async ({ req, json, var: { api } }) =>
      json(await api.admissions.decide(req.valid('query').name, 'deny'), 200),
    )
}
