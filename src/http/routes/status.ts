import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'

/** Serves `/healthz`, which answers as long as the process does, and `/v1/status`, which asks the parts. */
export function statusRoutes(service: OperatorService): Hono {
  return new Hono()
    .get('/healthz', (context) => context.json({ status: 'ok' }))
    .get('/v1/status', async (context) => context.json(await service.status()))
}
