import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, stillFor, takes } from '../route.ts'
import { notification, restoration, restorations } from '../schemas/outbox.ts'

const HELD = answersWith(restorations)
const SHOW = createRoute({
  operationId: 'outbox.restoration',
  summary: 'What is held since the database was put back',
  method: 'get',
  path: '/v1/outbox/restoration',
  security: needs('operate:read'),
  responses: HELD,
})
const RESUME = createRoute({
  operationId: 'outbox.resume',
  summary: 'Sends what is held',
  method: 'post',
  path: '/v1/outbox/resume',
  security: needs('operate:write'),
  responses: answersWith(restoration),
})
const DISCARD = createRoute({
  operationId: 'outbox.discard',
  summary: 'Ends what is held unsent',
  method: 'post',
  path: '/v1/outbox/discard',
  security: needs('operate:write'),
  responses: answersWith(restoration),
})

/** Serves what is held after the database was put back, an empty list if it never was, and decides about it. */
export function outboxRoutes() {
  return newRoutes()
    .openapi(SHOW, async ({ json, var: { api } }) => {
      const report = await api.outbox.restoration()
      return json(report ? [report] : [], 200)
    })
    .openapi(RESUME, async ({ json, var: { api } }) => json(await api.outbox.decide('resume'), 200))
    .openapi(DISCARD, async ({ json, var: { api } }) => json(await api.outbox.decide('discard'), 200))
}

const file = z.strictObject(
  { name: bodyText, data: z.string('must be a text').describe('base64') },
  'must be an object',
)
const NOTIFY = createRoute({
  operationId: 'notification.send',
  summary: 'Says a text in a chat, without a model',
  method: 'post',
  path: '/v1/notifications',
  security: needs('notify'),
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        to: bodyText,
        text: z.string('must be a text').optional(),
        silent: z.boolean('must be true or false').optional(),
        files: z.array(file, 'must be a list').optional(),
        id: bodyText.optional(),
        waitSeconds: z.number('must be a number').optional(),
      }),
    ),
  },
  responses: answersWith(notification),
})

/** Serves what scripts say in chats. A request with an `Idempotency-Key` names what it says by that. */
export function notificationRoutes() {
  return newRoutes().openapi(NOTIFY, async ({ req, json, var: { api, once, ended } }) => {
    const { id = once, ...wanted } = req.valid('json')
    return json(await stillFor(ended, api.notifications.send({ ...wanted, id }, ended)), 200)
  })
}
