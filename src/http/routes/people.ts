import { createRoute, z } from '@hono/zod-openapi'
import type { LinkedId, PeopleReport } from '../../core/operate-people.ts'
import { answers, needs, newRoutes, queryText } from '../route.ts'

const LIST = createRoute({
  method: 'get',
  path: '/v1/people',
  security: needs('operate:read'),
  responses: answers<PeopleReport>(),
})
const LINK = createRoute({
  method: 'post',
  path: '/v1/people/link',
  security: needs('operate:write'),
  request: { query: z.object({ person: queryText, id: queryText }) },
  responses: answers<LinkedId>(),
})
const UNLINK = createRoute({
  method: 'post',
  path: '/v1/people/unlink',
  security: needs('operate:write'),
  request: { query: z.object({ id: queryText }) },
  responses: answers<LinkedId>(),
})

/** Serves who is known by which ids, and joins or parts an id and a person. */
export function peopleRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.people.list(), 200))
    .openapi(LINK, async ({ req, json, var: { api } }) => {
      const { person, id } = req.valid('query')
      return json(await api.people.link(person, id), 200)
    })
    .openapi(UNLINK, async ({ req, json, var: { api } }) => json(await api.people.unlink(req.valid('query').id), 200))
}
