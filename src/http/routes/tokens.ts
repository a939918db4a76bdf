import { createRoute, z } from '@hono/zod-openapi'
import type { OperatorService, TokenReport } from '../../core/operator.ts'
import { answers, bodyText, jsonBody, newRoutes, takes } from '../route.ts'

const LIST = createRoute({ method: 'get', path: '/v1/tokens', responses: answers<readonly TokenReport[]>() })
const CREATE = createRoute({
  method: 'post',
  path: '/v1/tokens',
  middleware: jsonBody,
  request: { body: takes(z.object({ namespace: bodyText, label: z.string('must be a text').default('') })) },
  responses: answers<TokenReport & { readonly token: string }>(),
})
const REVOKE = createRoute({
  method: 'delete',
  path: '/v1/tokens/{id}',
  request: { params: z.object({ id: z.string() }) },
  responses: answers<{ readonly revoked: boolean }>(),
})

/** Serves the tokens, makes one, and revokes one by its id. */
export function tokenRoutes({ tokens }: OperatorService) {
  return newRoutes()
    .openapi(LIST, async ({ json }) => json(await tokens.list(), 200))
    .openapi(CREATE, async ({ req, json }) => {
      const { namespace, label } = req.valid('json')
      return json(await tokens.create(namespace, label), 200)
    })
    .openapi(REVOKE, async ({ req, json }) => {
      await tokens.revoke(req.valid('param').id)
      return json({ revoked: true }, 200)
    })
}
