import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readText } from '../read-query.ts'

/**
 * Serves `/v1/why?message=`, which accepts a link to a message, an inbox id, a trace id or a platform message id and
 * returns an empty list for an unknown one, and `/v1/unseen?message=`, which returns why a message may not have been
 * received.
 */
export function whyRoutes(service: OperatorService): Hono {
  return new Hono()
    .get('/v1/why', async (context) =>
      context.json(await service.why(readText('message', context.req.query('message')))),
    )
    .get('/v1/unseen', async (context) =>
      context.json(await service.unseen(readText('message', context.req.query('message')))),
    )
}
