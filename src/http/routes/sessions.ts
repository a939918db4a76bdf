import { createRoute, z } from '@hono/zod-openapi'
import {
  answersWith,
  bodyText,
  jsonBody,
  needs,
  newRoutes,
  pathText,
  queryCount,
  queryFlag,
  queryText,
  stillFor,
  takes,
} from '../route.ts'
import { workplace } from '../schemas/session-operations.ts'
import { history, posted, session, sessionDeleted, sessions } from '../schemas/sessions.ts'

const PAGE = '50'
const AT = '/v1/sessions/{name}'

const params = z.object({ name: pathText })
const flag = z.boolean('must be true or false')
/**
 * The service reads these itself, for every entrance alike, in words that name what is allowed. Keeps every name, also
 * `__proto__`, which a record of the schema library drops: the service refuses what it does not know.
 */
const changes = z.custom<Readonly<Record<string, unknown>>>().openapi({ type: 'object' })
const variables = z.record(z.string(), z.string('must be a text'), 'must be an object')
const detail = answersWith(session)

const LIST = createRoute({
  operationId: 'session.list',
  summary: 'Sessions, the newest activity first',
  method: 'get',
  path: '/v1/sessions',
  security: needs('sessions:read'),
  request: {
    query: z.object({
      limit: queryCount.prefault(PAGE),
      offset: queryCount.prefault('0'),
      cursor: queryText.optional(),
      inactive: queryFlag,
    }),
  },
  responses: answersWith(sessions),
})
const names = z.array(z.string('must be a text'), 'must be a list')
const text = z.string('must be a text')
const START = createRoute({
  operationId: 'session.start',
  summary: 'Begins a session',
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
        workplace: workplace.optional(),
      }),
    ),
  },
  responses: detail,
})
const SHOW = createRoute({
  operationId: 'session.load',
  summary: 'A session by any of its names',
  method: 'get',
  path: AT,
  security: needs('sessions:read'),
  request: { params },
  responses: detail,
})
const PATCH = createRoute({
  operationId: 'session.patch',
  summary: 'Changes what is set for a session; null inherits again',
  method: 'patch',
  path: AT,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(changes) },
  responses: detail,
})
const DELETE = createRoute({
  operationId: 'session.delete',
  summary: 'Deletes a session with all it holds',
  method: 'delete',
  path: AT,
  security: needs('sessions:write'),
  request: { params },
  responses: answersWith(sessionDeleted),
})
const HISTORY = createRoute({
  operationId: 'session.history',
  summary: 'Events of a session, a page at a time from the end',
  method: 'get',
  path: `${AT}/history`,
  security: needs('sessions:read'),
  request: {
    params,
    query: z.object({ limit: queryCount.prefault(PAGE), before: queryCount.optional() }),
  },
  responses: answersWith(history),
})
const POST = createRoute({
  operationId: 'agent.prompt',
  summary: 'Posts a text to a session and waits for the answer',
  method: 'post',
  path: `${AT}/messages`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: {
    params,
    body: takes(
      z.strictObject({
        text: bodyText,
        sender: bodyText.optional(),
        answer: flag.optional(),
        deliver: flag.optional(),
        context: variables.optional(),
        model: z.string('must be a text').optional(),
        waitSeconds: z.number('must be a number').optional(),
      }),
    ),
  },
  responses: answersWith(posted),
})
const SET_HISTORY = createRoute({
  operationId: 'session.setHistory',
  summary: 'Limits what the model is shown of a session',
  method: 'post',
  path: `${AT}/history`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(changes) },
  responses: detail,
})
const RENAME = createRoute({
  operationId: 'session.rename',
  summary: 'Gives a session another title',
  method: 'post',
  path: `${AT}/name`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(z.strictObject({ title: bodyText })) },
  responses: detail,
})

/**
 * Serves the sessions, and each by its name, percent-encoded: started, shown, changed, deleted, read, written to,
 * renamed.
 */
export function sessionRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ req, json, var: { api } }) => json(await api.sessions.list(req.valid('query')), 200))
    .openapi(START, async ({ req, json, var: { api, once } }) =>
      json(await api.sessions.start({ ...req.valid('json'), once }), 200),
    )
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
    .openapi(POST, async ({ req, json, var: { api, once, ended } }) =>
      json(
        await stillFor(ended, api.sessions.post(req.valid('param').name, { ...req.valid('json'), once }, ended)),
        200,
      ),
    )
    .openapi(SET_HISTORY, async ({ req, json, var: { api } }) =>
      json(await api.sessions.setHistory(req.valid('param').name, req.valid('json')), 200),
    )
    .openapi(RENAME, async ({ req, json, var: { api } }) =>
      json(await api.sessions.rename(req.valid('param').name, req.valid('json').title), 200),
    )
}
