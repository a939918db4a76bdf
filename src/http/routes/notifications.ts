import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, stillFor, takes } from '../route.ts'
import { notification } from '../schemas/notifications.ts'

const file = z.strictObject({ name: bodyText, data: z.string('must be a text').describe('base64') })
const SAY = createRoute({
  operationId: 'notification.say',
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
  return newRoutes().openapi(SAY, async ({ req, json, var: { api, once, ended } }) => {
    const { id = once, ...wanted } = req.valid('json')
    return json(await stillFor(ended, api.notifications.say({ ...wanted, id }, ended)), 200)
  })
}
