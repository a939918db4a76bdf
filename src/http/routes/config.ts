import { createRoute } from '@hono/zod-openapi'
import type { ReloadReport } from '../../core/operate-config.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes } from '../route.ts'

const RELOAD = createRoute({ method: 'post', path: '/v1/config/reload', responses: answers<ReloadReport>() })

/** Serves the reload of the configuration. */
export function configRoutes({ config }: OperatorService) {
  return newRoutes().openapi(RELOAD, async ({ json }) => json(await config.reload(), 200))
}
