import { createRoute, z } from '@hono/zod-openapi'
import type { ForgetReceipt } from '../../core/forgetting.ts'
import type { RetentionReport } from '../../core/operate-forgetting.ts'
import { answers, bodyText, jsonBody, needs, newRoutes, takes } from '../route.ts'

const FORGET = createRoute({
  method: 'post',
  path: '/v1/forget',
  security: needs('operate:write'),
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
  security: needs('operate:read'),
  responses: answers<readonly RetentionReport[]>(),
})
const RUN = createRoute({
  method: 'post',
  path: '/v1/retention/run',
  security: needs('operate:write'),
  responses: answers<readonly RetentionReport[]>(),
})

/** Serves forgetting and the age limits. */
export function forgettingRoutes() {
  return newRoutes()
    .openapi(FORGET, async ({ req, json, var: { api } }) => {
      const { since, ...request } = req.valid('json')
      return json(await api.forgetting.forget({ ...request, ...(since === undefined ? {} : { since }) }), 200)
    })
    .openapi(RETENTION, async ({ json, var: { api } }) => json(await api.forgetting.retention(), 200))
    .openapi(RUN, async ({ json, var: { api } }) => json(await api.forgetting.runRetention(), 200))
}
