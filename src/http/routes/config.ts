import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'

/** Serves `POST /v1/config/reload`. */
export function configRoutes({ config }: OperatorService): Hono {
  return new Hono().post('/v1/config/reload', async ({ json }) => json(await config.reload()))
}
