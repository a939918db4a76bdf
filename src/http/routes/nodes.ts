import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, pathText, stillFor, takes } from '../route.ts'
import { posted } from '../schemas/sessions.ts'

const POST = createRoute({
  operationId: 'node.post',
  summary: 'Posts a text into the one session of a node and waits for the answer',
  method: 'post',
  path: '/v1/nodes/{id}/messages',
  security: needs('nodes'),
  middleware: jsonBody,
  request: {
    params: z.object({ id: pathText }),
    body: takes(z.strictObject({ text: bodyText, waitSeconds: z.number('must be a number').optional() })),
  },
  responses: answersWith(posted),
})

/** Serves the clients that have one session each; its history is that of the session `node-<id>`. */
export function nodeRoutes() {
  return newRoutes().openapi(POST, async ({ req, json, var: { api, once, ended } }) =>
    json(await stillFor(ended, api.nodes.post(req.valid('param').id, { ...req.valid('json'), once }, ended)), 200),
  )
}
