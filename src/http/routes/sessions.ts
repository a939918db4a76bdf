import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readCount, readFlag } from '../read-query.ts'

const PAGE = 50

/** `/v1/sessions?limit&offset&inactive` and `/v1/sessions/<name>`, the name percent-encoded. */
export function sessionRoutes({ sessions }: OperatorService): Hono {
  return new Hono()
    .get('/v1/sessions', async ({ req, json }) =>
      json(
        await sessions.list({
          limit: readCount('limit', req.query('limit'), PAGE),
          offset: readCount('offset', req.query('offset'), 0),
          inactive: readFlag('inactive', req.query('inactive')),
        }),
      ),
    )
    .get('/v1/sessions/:name', async ({ req, json }) => json(await sessions.show(req.param('name'))))
}
