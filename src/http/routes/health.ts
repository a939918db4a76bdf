import { createRoute, z } from '@hono/zod-openapi'
import type { Readiness } from '../../core/operate-health.ts'
import { needs, newRoutes } from '../route.ts'
import { either, flag, list, object, oneOf, text } from '../schemas/shape.ts'

const status = oneOf<Readiness['status']>({ ready: true, starting: true, degraded: true })

/** The answer to a token, and the one to anybody. */
const readiness = either(
  object<Readiness>(
    {
      status,
      channels: list(object<Readiness['channels'][number]>({ channel: text, account: text, status: text })),
      store: flag,
    },
    'Readiness',
  ),
  object<Pick<Readiness, 'status'>>({ status }),
)

const answer = (description: string) => ({ description, content: { 'application/json': { schema: readiness } } })
const READY = createRoute({
  operationId: 'health.ready',
  summary: 'Says whether everything works that answers need',
  method: 'get',
  path: '/readyz',
  security: [...needs('metrics'), {}],
  responses: { 200: answer('Ready'), 503: answer('Degraded') },
})
const METRICS = createRoute({
  operationId: 'health.metrics',
  summary: 'The metrics, as Prometheus reads them',
  method: 'get',
  path: '/metrics',
  security: needs('metrics'),
  responses: { 200: { description: 'OK', content: { 'text/plain': { schema: z.string() } } } },
})

/** Serves `/readyz`, which names to a token alone what is wrong, and `/metrics`. */
export function healthRoutes() {
  return newRoutes()
    .openapi(READY, async ({ json, var: { api, scopes } }) => {
      const found = await api.health.ready()
      const told = scopes.has('metrics') ? found : { status: found.status }
      return json(told, found.status === 'ready' ? 200 : 503)
    })
    .openapi(METRICS, async (context) => {
      const page = await context.var.api.health.metrics()
      return context.text(page.text, 200, { 'content-type': page.type })
    })
}
