import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryText } from '../route.ts'
import { linkedId, people } from '../schemas/people.ts'

const LIST = createRoute({
  operationId: 'person.list',
  summary: 'People with their ids',
  method: 'get',
  path: '/v1/people',
  security: needs('operate:read'),
  responses: answersWith(people),
})
const LINK = createRoute({
  operationId: 'person.link',
  summary: 'Joins an id to a person',
  method: 'post',
  path: '/v1/people/link',
  security: needs('operate:write'),
  request: { query: z.object({ person: queryText, id: queryText }) },
  responses: answersWith(linkedId),
})
const UNLINK = createRoute({
  operationId: 'person.unlink',
  summary: 'Parts an id from its person',
  method: 'post',
  path: '/v1/people/unlink',
  security: needs('operate:write'),
  request: { query: z.object({ id: queryText }) },
  responses: answersWith(linkedId),
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
