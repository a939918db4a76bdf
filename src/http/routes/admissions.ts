import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryText } from '../route.ts'
import { admission, admissions } from '../schemas/admissions.ts'

const query = z.object({ name: queryText })
const one = answersWith(admission)
const LIST = createRoute({
  operationId: 'admission.list',
  summary: 'Who asked to be let in, the newest first',
  method: 'get',
  path: '/v1/admissions',
  security: needs('operate:read'),
  responses: answersWith(admissions),
})
const ADMIT = createRoute({
  operationId: 'admission.admit',
  summary: 'Lets somebody in, by code or key',
  method: 'post',
  path: '/v1/admissions/admit',
  security: needs('operate:write'),
  request: { query },
  responses: one,
})
const DENY = createRoute({
  operationId: 'admission.deny',
  summary: 'Keeps somebody out, by code or key',
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
