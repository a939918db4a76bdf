import { createRoute, z } from '@hono/zod-openapi'
import type { TokenReport } from '../../core/operate-tokens.ts'
import { answers, bodyText, jsonBody, needs, newRoutes, takes } from '../route.ts'

const LIST = createRoute({
  method: 'get',
  path: '/v1/tokens',
  security: needs('tokens'),
  responses: answers<readonly TokenReport[]>(),
})
const CREATE = createRoute({
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
  responses: answers<TokenReport & { readonly token: string }>(),
})
const REVOKE = createRoute({
  method: 'delete',
  path: '/v1/tokens/{id}',
  security: needs('tokens'),
  request: { params: z.object({ id: z.string() }) },
  responses: answers<{ readonly revoked: boolean }>(),
})

/** Serves the tokens, makes one, and revokes one by its id. */
export function tokenRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.tokens.list(), 200))
    .openapi(CREATE, async ({ req, json, var: { api } }) => json(await api.tokens.create(req.valid('json')), 200))
    .openapi(REVOKE, async ({ req, json, var: { api } }) => {
      await api.tokens.revoke(req.valid('param').id)
      return json({ revoked: true }, 200)
    })
}
