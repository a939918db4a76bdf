import { Hono } from 'hono'
import type { OperatorService } from '../../core/operator.ts'
import { bodyText, readBody } from '../read-body.ts'

/** Serves `GET /v1/tokens`, `POST /v1/tokens {namespace, label}`, `DELETE /v1/tokens/<id>`. */
export function tokenRoutes({ tokens }: OperatorService): Hono {
  return new Hono()
    .get('/v1/tokens', async ({ json }) => json(await tokens.list()))
    .post('/v1/tokens', async ({ req, json }) => {
      const body = await readBody(req)
      const label = body.label === undefined ? '' : String(body.label)
      return json(await tokens.create(bodyText(body, 'namespace'), label))
    })
    .delete('/v1/tokens/:id', async ({ req, json }) => {
      await tokens.revoke(req.param('id'))
      return json({ revoked: true })
    })
}
