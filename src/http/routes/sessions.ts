import { Hono } from 'hono'
import { ParleyError } from '../../core/errors.ts'
import type { OperatorService, PostRequest } from '../../core/operator.ts'
import { bodyText, readBody } from '../read-body.ts'
import { readCount, readFlag } from '../read-query.ts'

const PAGE = 50

/**
 * Serves `/v1/sessions?limit&offset&inactive`; `/v1/sessions/<name>`, the name percent-encoded: GET shows, PATCH sets
 * overrides, DELETE deletes; under it `/history?limit&before`, to which a POST sets what the model is shown, `POST
 * /name` and `POST /messages`.
 */
export function sessionRoutes({ sessions }: OperatorService): Hono {
  return new Hono()
    .get('/v1/sessions', async ({ req, json }) =>
      json(
        await sessions.list({
          limit: readCount('limit', req.query('limit'), PAGE),
          offset: readCount('offset', req.query('offset'), 0),
          inactive: readFlag('inactive', req.query('inactive')),
        }),
      ),
    )
    .get('/v1/sessions/:name', async ({ req, json }) => json(await sessions.show(req.param('name'))))
    .patch('/v1/sessions/:name', async ({ req, json }) =>
      json(await sessions.patch(req.param('name'), await readBody(req))),
    )
    .delete('/v1/sessions/:name', async ({ req, json }) => {
      await sessions.delete(req.param('name'))
      return json({ deleted: true })
    })
    .get('/v1/sessions/:name/history', async ({ req, json }) => {
      const before = req.query('before')
      const page = { limit: readCount('limit', req.query('limit'), PAGE) }
      return json(
        await sessions.history(req.param('name'), {
          ...page,
          ...(before === undefined ? {} : { before: readCount('before', before, 0) }),
        }),
      )
    })
    .post('/v1/sessions/:name/messages', async ({ req, json }) =>
      json(await sessions.post(req.param('name'), readPost(await readBody(req)))),
    )
    .post('/v1/sessions/:name/history', async ({ req, json }) =>
      json(await sessions.setHistory(req.param('name'), await readBody(req))),
    )
    .post('/v1/sessions/:name/name', async ({ req, json }) =>
      json(await sessions.rename(req.param('name'), bodyText(await readBody(req), 'title'))),
    )
}

function readPost(body: Readonly<Record<string, unknown>>): PostRequest {
  const { answer, deliver, waitSeconds } = body
  if (answer !== undefined && typeof answer !== 'boolean')
    throw new ParleyError('invalid', '"answer" must be true or false')
  if (deliver !== undefined && typeof deliver !== 'boolean')
    throw new ParleyError('invalid', '"deliver" must be true or false')
  if (waitSeconds !== undefined && typeof waitSeconds !== 'number')
    throw new ParleyError('invalid', '"waitSeconds" must be a number')
  return {
    text: bodyText(body, 'text'),
    ...(answer === undefined ? {} : { answer }),
    ...(deliver === undefined ? {} : { deliver }),
    ...(waitSeconds === undefined ? {} : { waitSeconds }),
  }
}
