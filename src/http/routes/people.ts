import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readText } from '../read-query.ts'

/** Serves `/v1/people`, `POST /v1/people/link?person&id` and `POST /v1/people/unlink?id`. */
export function peopleRoutes({ people }: OperatorService): Hono {
  return new Hono()
    .get('/v1/people', async ({ json }) => json(await people.list()))
    .post('/v1/people/link', async ({ req, json }) =>
      json(await people.link(readText('person', req.query('person')), readText('id', req.query('id')))),
    )
    .post('/v1/people/unlink', async ({ req, json }) => json(await people.unlink(readText('id', req.query('id')))))
}
