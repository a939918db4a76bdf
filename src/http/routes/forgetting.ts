import { createRoute, z } from '@hono/zod-openapi'
import type { ForgetReceipt } from '../../core/forgetting.ts'
import type { RetentionReport } from '../../core/operate-forgetting.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, bodyText, jsonBody, newRoutes, takes } from '../route.ts'

const FORGET = createRoute({
  method: 'post',
  path: '/v1/forget',
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        kind: z.enum(['message', 'person', 'chat']),
        name: bodyText,
        since: bodyText.optional(),
        confirmed: z.boolean('must be true or false'),
      }),
    ),
  },
  responses: answers<ForgetReceipt>(),
})
const RETENTION = createRoute({
  method: 'get',
  path: '/v1/retention',
  responses: answers<readonly RetentionReport[]>(),
})
const RUN = createRoute({
  method: 'post',
  path: '/v1/retention/run',
  responses: answers<readonly RetentionReport[]>(),
})

/** Serves forgetting and the age limits. */
export function forgettingRoutes({ forgetting }: OperatorService) {
  return newRoutes()
    .openapi(FORGET, async ({ req, json }) => {
      const { since, ...request } = req.valid('json')
      return json(await forgetting.forget({ ...request, ...(since === undefined ? {} : { since }) }), 200)
    })
    .openapi(RETENTION, async ({ json }) => json(await forgetting.retention(), 200))
    .openapi(RUN, async ({ json }) => json(await forgetting.runRetention(), 200))
}
