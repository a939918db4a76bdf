import { createRoute } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes } from '../route.ts'
import { restoration, restorations } from '../schemas/outbox.ts'

const HELD = answersWith(restorations)
const SHOW = createRoute({
  operationId: 'outbox.restoration',
  summary: 'What is held since the database was put back',
  method: 'get',
  path: '/v1/outbox/restoration',
  security: needs('operate:read'),
  responses: HELD,
})
const RESUME = createRoute({
  operationId: 'outbox.resume',
  summary: 'Sends what is held',
  method: 'post',
  path: '/v1/outbox/resume',
  security: needs('operate:write'),
  responses: answersWith(restoration),
})
const DISCARD = createRoute({
  operationId: 'outbox.discard',
  summary: 'Ends what is held unsent',
  method: 'post',
  path: '/v1/outbox/discard',
  security: needs('operate:write'),
  responses: answersWith(restoration),
})

/** Serves what is held after the database was put back, an empty list if it never was, and decides about it. */
export function outboxRoutes() {
  return newRoutes()
    .openapi(SHOW, async ({ json, var: { api } }) => {
      const report = await api.outbox.restoration()
      return json(report ? [report] : [], 200)
    })
    .openapi(RESUME, async ({ json, var: { api } }) => json(await api.outbox.decide('resume'), 200))
    .openapi(DISCARD, async ({ json, var: { api } }) => json(await api.outbox.decide('discard'), 200))
}
