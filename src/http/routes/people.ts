import { createRoute, z } from '@hono/zod-openapi'
import type { LinkedId, PeopleReport } from '../../core/operate-people.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes, queryText } from '../route.ts'

const LIST = createRoute({ method: 'get', path: '/v1/people', responses: answers<PeopleReport>() })
const LINK = createRoute({
  method: 'post',
  path: '/v1/people/link',
  request: { query: z.object({ person: queryText, id: queryText }) },
  responses: answers<LinkedId>(),
})
const UNLINK = createRoute({
  method: 'post',
  path: '/v1/people/unlink',
  request: { query: z.object({ id: queryText }) },
  responses: answers<LinkedId>(),
})

/** Serves who is known by which ids, and joins or parts an id and a person. */
export function peopleRoutes({ people }: OperatorService) {
  return newRoutes()
    .openapi(LIST, async ({ json }) => json(await people.list(), 200))
    .openapi(LINK, async ({ req, json }) => {
      const { person, id } = req.valid('query')
      return json(await people.link(person, id), 200)
    })
    .openapi(UNLINK, async ({ req, json }) => json(await people.unlink(req.valid('query').id), 200))
}
