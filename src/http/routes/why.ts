import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { readText } from '../read-query.ts'

/**
 * `/v1/why?message=` takes a link to a message, an inbox id, a trace id or a platform message id; nothing of that name is
 * an empty list, and `/v1/unseen?message=` tells what may have kept it away.
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
