import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'

/**
 * Serves `/v1/outbox/restoration`, an empty list if there is none; `POST /v1/outbox/resume`, `POST /v1/outbox/discard`.
 */
export function outboxRoutes({ outbox }: OperatorService): Hono {
  return new Hono()
    .get('/v1/outbox/restoration', async ({ json }) => {
      const report = await outbox.restoration()
      return json(report ? [report] : [])
    })
    .post('/v1/outbox/resume', async ({ json }) => json(await outbox.decide('resume')))
    .post('/v1/outbox/discard', async ({ json }) => json(await outbox.decide('discard')))
}
