import { createRoute } from '@hono/zod-openapi'
import type { RestorationReport } from '../../core/operate-outbox.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes } from '../route.ts'

const HELD = answers<readonly RestorationReport[]>()
const SHOW = createRoute({ method: 'get', path: '/v1/outbox/restoration', responses: HELD })
const RESUME = createRoute({ method: 'post', path: '/v1/outbox/resume', responses: answers<RestorationReport>() })
const DISCARD = createRoute({ method: 'post', path: '/v1/outbox/discard', responses: answers<RestorationReport>() })

/** Serves what is held after the database was put back, an empty list if it never was, and decides about it. */
export function outboxRoutes({ outbox }: OperatorService) {
  return newRoutes()
    .openapi(SHOW, async ({ json }) => {
      const report = await outbox.restoration()
      return json(report ? [report] : [], 200)
    })
    .openapi(RESUME, async ({ json }) => json(await outbox.decide('resume'), 200))
    .openapi(DISCARD, async ({ json }) => json(await outbox.decide('discard'), 200))
}
