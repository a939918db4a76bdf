import { createRoute } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes } from '../route.ts'
import { reload } from '../schemas/config.ts'

const RELOAD = createRoute({
  operationId: 'config.reload',
  summary: 'Reads the configuration again',
  method: 'post',
  path: '/v1/config/reload',
  security: needs('operate:write'),
  responses: answersWith(reload),
})

/** Serves the reload of the configuration. */
export function configRoutes() {
  return newRoutes().openapi(RELOAD, async ({ json, var: { api } }) => json(await api.config.reload(), 200))
}
