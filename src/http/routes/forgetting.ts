import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, takes } from '../route.ts'
import { receipt, retention } from '../schemas/forgetting.ts'

const FORGET = createRoute({
  operationId: 'forgetting.forget',
  summary: 'Forgets a message, a person or a chat, or says what would be forgotten',
  method: 'post',
  path: '/v1/forget',
  security: needs('operate:write'),
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        kind: z.enum(['message', 'person', 'chat'], 'must be message, person or chat'),
        name: bodyText,
        since: bodyText.optional(),
        confirmed: z.boolean('must be true or false'),
      }),
    ),
  },
  responses: answersWith(receipt),
})
const RETENTION = createRoute({
  operationId: 'retention.list',
  summary: 'The age limits, with what each removes',
  method: 'get',
  path: '/v1/retention',
  security: needs('operate:read'),
  responses: answersWith(retention),
})
const RUN = createRoute({
  operationId: 'retention.run',
  summary: 'Applies the age limits now',
  method: 'post',
  path: '/v1/retention/run',
  security: needs('operate:write'),
  responses: answersWith(retention),
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
