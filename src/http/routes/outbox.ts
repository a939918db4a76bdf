import { createRoute } from '@hono/zod-openapi'
import type { RestorationReport } from '../../core/operate-outbox.ts'
import { answers, needs, newRoutes } from '../route.ts'

const HELD = answers<readonly RestorationReport[]>()
const SHOW = createRoute({
  method: 'get',
  path: '/v1/outbox/restoration',
  security: needs('operate:read'),
  responses: HELD,
})
const RESUME = createRoute({
  method: 'post',
  path: '/v1/outbox/resume',
  security: needs('operate:write'),
  responses: answers<RestorationReport>(),
})
const DISCARD = createRoute({
  method: 'post',
  path: '/v1/outbox/discard',
  security: needs('operate:write'),
  responses: answers<RestorationReport>(),
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
