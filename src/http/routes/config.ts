import { createRoute } from '@hono/zod-openapi'
import type { ReloadReport } from '../../core/operate-config.ts'
import { answers, needs, newRoutes } from '../route.ts'

const RELOAD = createRoute({
  method: 'post',
  path: '/v1/config/reload',
  security: needs('operate:write'),
  responses: answers<ReloadReport>(),
})

/** Serves the reload of the configuration. */
export function configRoutes() {
  return newRoutes().openapi(RELOAD, async ({ json, var: { api } }) => json(await api.config.reload(), 200))
}
