import { createRoute, z } from '@hono/zod-openapi'
import type { HookedRun } from '../../core/operate-hooks.ts'
import { needs, newRoutes, pathText, queryText } from '../route.ts'
import { object, oneOf, text } from '../schemas/shape.ts'

const hookedRun = object<HookedRun>(
  { runId: text, session: text, status: oneOf<HookedRun['status']>({ accepted: true, repeated: true }) },
  'HookedRun',
)

const CALL = createRoute({
  operationId: 'hook.call',
  summary: 'Begins a run for a signed call of another program',
  method: 'post',
  path: '/v1/hooks/{name}',
  // A platform with a signature of its own sends no token: the hook decides whether that is enough.
  security: [...needs('hooks'), {}],
  request: {
    params: z.object({ name: pathText }),
    query: z.object({ session: queryText.optional() }),
    body: { required: true, content: { '*/*': { schema: z.string() } } },
  },
  responses: { 202: { description: 'Accepted', content: { 'application/json': { schema: hookedRun } } } },
})

/** Serves the hooks by which other programs call in. Who calls is known by a signature of the body, and a token. */
export function hookRoutes() {
  return newRoutes().openapi(CALL, async ({ req, json, var: { api, body } }) => {
    const run = await api.hooks.receive({
      name: req.valid('param').name,
      body: await body.bytes(),
      session: req.valid('query').session,
      signature: req.header('x-parley-signature'),
      timestamp: req.header('x-parley-timestamp'),
      githubSignature: req.header('x-hub-signature-256'),
      contentType: req.header('content-type'),
      id: req.header('idempotency-key') ?? req.header('x-github-delivery') ?? req.header('webhook-id'),
      event: req.header('x-github-event'),
    })
    return json(run, 202)
  })
}
