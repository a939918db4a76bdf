import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, bodyText, jsonBody, needs, newRoutes, pathText, queryCount, takes } from '../route.ts'
import { schedule, schedules, slots, startedRun } from '../schemas/schedules.ts'

const params = z.object({ id: pathText })
const LIST = createRoute({
  operationId: 'schedule.list',
  summary: 'The schedules',
  method: 'get',
  path: '/v1/schedules',
  security: needs('operate:read'),
  responses: answersWith(schedules),
})
const ADD = createRoute({
  operationId: 'schedule.add',
  summary: 'Makes a reminder, or a task for the agent',
  method: 'post',
  path: '/v1/schedules',
  security: needs('operate:write'),
  middleware: jsonBody,
  request: {
    body: takes(
      z.strictObject({
        to: bodyText,
        words: bodyText,
        task: z.boolean('must be true or false').optional(),
        timezone: bodyText.optional(),
      }),
    ),
  },
  responses: answersWith(schedule),
})
const NEXT = createRoute({
  operationId: 'schedule.next',
  summary: 'The next times of a schedule',
  method: 'get',
  path: '/v1/schedules/{id}/next',
  security: needs('operate:read'),
  request: { params, query: z.object({ count: queryCount.prefault('5') }) },
  responses: answersWith(slots),
})
const RUN = createRoute({
  operationId: 'schedule.run',
  summary: 'Runs a schedule now',
  method: 'post',
  path: '/v1/schedules/{id}/run',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(startedRun),
})
const PAUSE = createRoute({
  operationId: 'schedule.pause',
  summary: 'Leaves the times of a schedule out from now on',
  method: 'post',
  path: '/v1/schedules/{id}/pause',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(schedule),
})
const RESUME = createRoute({
  operationId: 'schedule.resume',
  summary: 'Runs a paused schedule again, from now on',
  method: 'post',
  path: '/v1/schedules/{id}/resume',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(schedule),
})
const REMOVE = createRoute({
  operationId: 'schedule.remove',
  summary: 'Removes a schedule that was made in a chat',
  method: 'delete',
  path: '/v1/schedules/{id}',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(schedule),
})

/** Serves the schedules and the next slots of one, adds, runs, pauses and removes one; its id is percent-encoded. */
export function scheduleRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.schedules.list(), 200))
    .openapi(ADD, async ({ req, json, var: { api, once } }) => {
      const { to, words, task, timezone } = req.valid('json')
      const wanted = { to, words, ...(task === undefined ? {} : { task }), ...(timezone ? { timezone } : {}) }
      return json(await api.schedules.add(wanted, once), 200)
    })
    .openapi(NEXT, async ({ req, json, var: { api } }) =>
      json(await api.schedules.next(req.valid('param').id, req.valid('query').count), 200),
    )
    .openapi(RUN, async ({ req, json, var: { api, once } }) =>
      json(await api.schedules.run(req.valid('param').id, once), 200),
    )
    .openapi(PAUSE, async ({ req, json, var: { api } }) => json(await api.schedules.pause(req.valid('param').id), 200))
    .openapi(RESUME, async ({ req, json, var: { api } }) =>
      json(await api.schedules.resume(req.valid('param').id), 200),
    )
    .openapi(REMOVE, async ({ req, json, var: { api } }) =>
      json(await api.schedules.remove(req.valid('param').id), 200),
    )
}
