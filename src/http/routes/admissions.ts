import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readText } from '../read-query.ts'

/** Serves `/v1/admissions`, `POST /v1/admissions/admit?name` and `POST /v1/admissions/deny?name`, by code or key. */
export function admissionRoutes({ admissions }: OperatorService): Hono {
  return new Hono()
    .get('/v1/admissions', async ({ json }) => json(await admissions.list()))
    .post('/v1/admissions/admit', async ({ req, json }) =>
      json(await admissions.decide(readText('name', req.query('name')), 'admit')),
    )
    .post('/v1/admissions/deny', async ({ req, json }) =>
      json(await admissions.decide(readText('name', req.query('name')), 'deny')),
    )
}
