import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readCount } from '../read-query.ts'

const SHOWN = 5

/**
 * Serves `/v1/schedules`, `/v1/schedules/<id>/next?count` and `POST /v1/schedules/<id>/run`, the id percent-encoded.
 */
export function scheduleRoutes({ schedules }: OperatorService): Hono {
  return new Hono()
    .get('/v1/schedules', async ({ json }) => json(await schedules.list()))
    .get('/v1/schedules/:id/next', async ({ req, json }) =>
      json(await schedules.next(req.param('id'), readCount('count', req.query('count'), SHOWN))),
    )
    .post('/v1/schedules/:id/run', async ({ req, json }) => json(await schedules.run(req.param('id'))))
}
