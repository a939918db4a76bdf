import { createRoute, z } from '@hono/zod-openapi'
import { EXPORT_FORMATS } from '../../core/export-format.ts'
import { answersWith, bodyText, jsonBody, needs, newRoutes, pathText, stillFor, takes } from '../route.ts'
import { relocation } from '../schemas/archives.ts'
import { workplace } from '../schemas/session-operations.ts'
import { cancelAnswer, checkpointOutcome, createdSession, posted } from '../schemas/sessions.ts'

const AT = '/v1/sessions/{name}'
const params = z.object({ name: pathText })
const text = z.string('must be a text')
const flag = z.boolean('must be true or false')

const CREATE = createRoute({
  operationId: 'session.create',
  summary: 'Begins a session of a worker in a workspace, under a name that is drawn',
  method: 'post',
  path: '/v1/workspaces/{workspace}/sessions',
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: {
    params: z.object({ workspace: pathText }),
    body: takes(
      z.strictObject({
        worker: bodyText,
        model: text.optional(),
        tools: z.array(text, 'must be a list').optional(),
        context: z.record(z.string(), text, 'must be an object').optional(),
        workplace: workplace.optional(),
      }),
    ),
  },
  responses: answersWith(createdSession),
})
const APPEND = createRoute({
  operationId: 'session.append',
  summary: 'Puts a text into a conversation; nobody answers it',
  method: 'post',
  path: `${AT}/append`,
  security: needs('sessions:write'),
  middleware: jsonBody,
  request: { params, body: takes(z.strictObject({ text: bodyText, sender: bodyText.optional() })) },
  responses: answersWith(posted),
})
const CANCEL = createRoute({
  operationId: 'session.cancel',
  summary: 'Ends the running turn, and drops what waits behind it',
  method: 'post',
  path: `${AT}/cancel`,
  security: needs('sessions:write'),
  request: { params },
  responses: answersWith(cancelAnswer),
})
const CHECKPOINT = createRoute({
  operationId: 'session.checkpoint',
  summary: 'Looks through a session for what is worth remembering',
  method: 'post',
  path: `${AT}/checkpoint`,
  security: needs('sessions:write'),
  request: { params },
  responses: answersWith(checkpointOutcome),
})
const EXPORT = createRoute({
  operationId: 'session.export',
  summary: 'A session as a file',
  method: 'get',
  path: `${AT}/export`,
  security: needs('operate:read'),
  request: {
    params,
    query: z.object({
      format: z.enum([...EXPORT_FORMATS, 'bundle'], `must be ${EXPORT_FORMATS.join(', ')} or bundle`),
    }),
  },
  responses: {
    200: {
      description: 'The file, as it is written',
      content: {
        'application/yaml': { schema: z.string() },
        'application/x-ndjson': { schema: z.string() },
        'text/markdown': { schema: z.string() },
      },
    },
  },
})
const place = takes(z.strictObject({ to: bodyText, confirmed: flag.optional() }))
const MOVE = createRoute({
  operationId: 'session.move',
  summary: 'Continues a session in another conversation, and ends it here',
  method: 'post',
  path: `${AT}/move`,
  security: needs('operate:write'),
  middleware: jsonBody,
  request: { params, body: place },
  responses: answersWith(relocation),
})
const FORK = createRoute({
  operationId: 'session.fork',
  summary: 'Continues a session in another conversation as well',
  method: 'post',
  path: `${AT}/fork`,
  security: needs('operate:write'),
  middleware: jsonBody,
  request: { params, body: place },
  responses: answersWith(relocation),
})

/** Serves the operations on a session by its name, and the creation of one under a name that is drawn. */
export function sessionOperationRoutes() {
  return newRoutes()
    .openapi(CREATE, async ({ req, json, var: { api, once } }) =>
      json(await api.sessions.create({ ...req.valid('json'), ...req.valid('param'), once }), 200),
    )
    .openapi(APPEND, async ({ req, json, var: { api, once } }) =>
      json(await api.sessions.post(req.valid('param').name, { ...req.valid('json'), answer: false, once }), 200),
    )
    .openapi(CANCEL, async ({ req, json, var: { api } }) =>
      json(await api.sessions.cancel(req.valid('param').name), 200),
    )
    .openapi(CHECKPOINT, async ({ req, json, var: { api, ended } }) =>
      json(await stillFor(ended, api.sessions.checkpoint(req.valid('param').name)), 200),
    )
    .openapi(EXPORT, async ({ req, body, var: { api, ended } }) => {
      const { fileName, mediaType, text } = await api.archives.download(
        req.valid('param').name,
        req.valid('query').format,
      )
      const headers = { 'content-type': mediaType, 'content-disposition': `attachment; filename="${fileName}"` }
      return body(ReadableStream.from(bytesOf(text, ended)), 200, headers)
    })
    .openapi(MOVE, async ({ req, json, var: { api, once } }) =>
      json(await api.archives.relocate(req.valid('param').name, { ...req.valid('json'), kind: 'move', once }), 200),
    )
    .openapi(FORK, async ({ req, json, var: { api, once } }) =>
      json(await api.archives.relocate(req.valid('param').name, { ...req.valid('json'), kind: 'fork', once }), 200),
    )
}

/** Breaks off once the token of whoever reads has ended. */
async function* bytesOf(pieces: AsyncIterable<string>, ended: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    ended?.throwIfAborted()
    yield Buffer.from(piece)
  }
}
