import { createRoute, z } from '@hono/zod-openapi'
import type { PostAnswer, SessionDetail, SessionHistory, SessionList } from '../../core/operate-sessions.ts'
import { answers, bodyText, jsonBody, needs, newRoutes, queryCount, queryFlag, takes } from '../route.ts'

const PAGE = '50'
const AT = '/v1/sessions/{name}'

const params = z.object({ name: z.string() })
const flag = z.boolean('must be true or false')
/**
 * The service reads these itself, for every entrance alike, in words that name what is allowed. Keeps every name, also
 * `__proto__`, which a record of the schema library drops: the service refuses what it does not know.
 */
const changes = z.custom<Readonly<Record<string, unknown>>>().openapi({ type: 'object' })
const variables = z.record(z.string(), z.string('must be a text'))
const detail = answers<SessionDetail>()

const LIST = createRoute({
  method: 'get',
  path: '/v1/sessions',
  security: needs('sessions:read'),
  request: {
    query: z.object({ limit: queryCount.prefault(PAGE), offset: queryCount.prefault('0'), inactive: queryFlag }),
  },
  responses: answers<SessionList>(),
})
const names = z.array(z.string('must be a text'), 'must be a list')
const text = z.string('must be a text')
const START = createRoute({
  method: 'post',
  path: '/v1/sessions',
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        name: text.optional(),
        agent: text.optional(),
        workspace: text.optional(),
        model: text.optional(),
        tools: names.optional(),
        context: variables.optional(),
      }),
    ),
  },
  responses: detail,
})
const SHOW = createRoute({
  method: 'get',
  path: AT,
  security: needs('sessions:read'),
  request: { params },
  responses: detail,
})
const PATCH = createRoute({
  method: 'patch',
  path: AT,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(changes) },
  responses: detail,
})
const DELETE = createRoute({
  method: 'delete',
  path: AT,
  security: needs('sessions:write'),
  request: { params },
  responses: answers<{ readonly deleted: boolean }>(),
})
const HISTORY = createRoute({
  method: 'get',
  path: `${AT}/history`,
  security: needs('sessions:read'),
  request: {
    params,
    query: z.object({ limit: queryCount.prefault(PAGE), before: queryCount.optional() }),
  },
  responses: answers<SessionHistory>(),
})
const POST = createRoute({
  method: 'post',
  path: `${AT}/messages`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: {
    params,
    body: takes(
      z.object({
        text: bodyText,
        answer: flag.optional(),
        deliver: flag.optional(),
        context: variables.optional(),
        model: z.string('must be a text').optional(),
        waitSeconds: z.number('must be a number').optional(),
      }),
    ),
  },
  responses: answers<PostAnswer>(),
})
const SET_HISTORY = createRoute({
  method: 'post',
  path: `${AT}/history`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(changes) },
  responses: detail,
})
const RENAME = createRoute({
  method: 'post',
  path: `${AT}/name`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(z.object({ title: bodyText })) },
  responses: detail,
})

/**
 * Serves the sessions, and each by its name, percent-encoded: started, shown, changed, deleted, read, written to,
 * renamed.
 */
export function sessionRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ req, json, var: { api } }) => json(await api.sessions.list(req.valid('query')), 200))
    .openapi(START, async ({ req, json, var: { api } }) => json(await api.sessions.start(req.valid('json')), 200))
    .openapi(SHOW, async ({ req, json, var: { api } }) => json(await api.sessions.show(req.valid('param').name), 200))
    .openapi(PATCH, async ({ req, json, var: { api } }) =>
      json(await api.sessions.patch(req.valid('param').name, req.valid('json')), 200),
    )
    .openapi(DELETE, async ({ req, json, var: { api } }) => {
      await api.sessions.delete(req.valid('param').name)
      return json({ deleted: true }, 200)
    })
    .openapi(HISTORY, async ({ req, json, var: { api } }) =>
      json(await api.sessions.history(req.valid('param').name, req.valid('query')), 200),
    )
    .openapi(POST, async ({ req, json, var: { api } }) =>
      json(await api.sessions.post(req.valid('param').name, req.valid('json')), 200),
    )
    .openapi(SET_HISTORY, async ({ req, json, var: { api } }) =>
      json(await api.sessions.setHistory(req.valid('param').name, req.valid('json')), 200),
    )
    .openapi(RENAME, async ({ req, json, var: { api } }) =>
      json(await api.sessions.rename(req.valid('param').name, req.valid('json').title), 200),
    )
}
