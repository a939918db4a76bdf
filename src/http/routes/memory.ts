import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryCount } from '../route.ts'
import { memories, memory } from '../schemas/memory.ts'

const params = z.object({ no: queryCount })
const LIST = createRoute({
  operationId: 'memory.list',
  summary: 'Long-term memory, the newest first',
  method: 'get',
  path: '/v1/memory',
  security: needs('operate:read'),
  request: { query: z.object({ words: z.string().optional(), before: queryCount.optional() }) },
  responses: answersWith(memories),
})
const SHOW = createRoute({
  operationId: 'memory.show',
  summary: 'An entry by its number',
  method: 'get',
  path: '/v1/memory/{no}',
  security: needs('operate:read'),
  request: { params },
  responses: answersWith(memory),
})
const REMOVE = createRoute({
  operationId: 'memory.remove',
  summary: 'Removes an entry by its number',
  method: 'delete',
  path: '/v1/memory/{no}',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(memory),
})

/** Serves long-term memory, and removes an entry by its number. */
export function memoryRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ req, json, var: { api } }) => {
      const { words, before } = req.valid('query')
      const query = { ...(words === undefined ? {} : { words }), ...(before === undefined ? {} : { before }) }
      return json(await api.memory.list(query), 200)
    })
    .openapi(SHOW, async ({ req, json, var: { api } }) => json(await api.memory.show(req.valid('param').no), 200))
    .openapi(REMOVE, async ({ req, json, var: { api } }) => json(await api.memory.remove(req.valid('param').no), 200))
}
