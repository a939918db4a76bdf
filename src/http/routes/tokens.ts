import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, pathText, takes } from '../route.ts'
import { newToken, tokenRevoked, tokens } from '../schemas/tokens.ts'

const LIST = createRoute({
  operationId: 'token.list',
  summary: 'The tokens, the newest first',
  method: 'get',
  path: '/v1/tokens',
  security: needs('tokens'),
  responses: answersWith(tokens),
})
const CREATE = createRoute({
  operationId: 'token.create',
  summary: 'Makes a token, which is in this answer and nowhere else',
  method: 'post',
  path: '/v1/tokens',
  security: needs('tokens'),
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        namespace: bodyText.optional(),
        owner: z.boolean('must be true or false').optional(),
        scopes: z.array(z.string('must be a text'), 'must be a list').optional(),
        label: z.string('must be a text').optional(),
        days: z.number('must be a number').optional(),
      }),
    ),
  },
  responses: answersWith(newToken),
})
const REVOKE = createRoute({
  operationId: 'token.revoke',
  summary: 'Revokes a token by its id, with those that it has made',
  method: 'delete',
  path: '/v1/tokens/{id}',
  security: needs('tokens'),
  request: { params: z.object({ id: pathText }) },
  responses: answersWith(tokenRevoked),
})

/** Serves the tokens, makes one, and revokes one by its id. */
export function tokenRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.tokens.list(), 200))
    .openapi(CREATE, async ({ req, json, var: { api, once } }) =>
      json(await api.tokens.create({ ...req.valid('json'), once }), 200),
    )
    .openapi(REVOKE, async ({ req, json, var: { api } }) => {
      const also = await api.tokens.revoke(req.valid('param').id)
      return json({ revoked: true, ...(also.length === 0 ? {} : { also }) }, 200)
    })
}
