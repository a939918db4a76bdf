import type { HttpBindings } from '@hono/node-server'
import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Followed, FollowRequest } from '../../core/operate-events.ts'
import { parsePlace, type StreamPlace } from '../../core/stream-place.ts'
import { EventStream, STREAM_HEADERS } from '../event-stream.ts'
import { type ApiEnv, needs, newRoutes, pathText, queryFlag, queryText } from '../route.ts'

const request = {
  headers: z.object({ 'last-event-id': z.string().optional() }),
  query: z.object({ after: queryText.optional(), deltas: queryFlag, named: queryFlag }),
}
const responses = {
  200: {
    description: 'A stream of events that stays open',
    content: { 'text/event-stream': { schema: z.string() } },
  },
}

const ONE = createRoute({
  operationId: 'session.follow',
  summary: 'Events of a session as they happen',
  method: 'get',
  path: '/v1/sessions/{name}/events',
  security: needs('sessions:read'),
  request: { ...request, params: z.object({ name: pathText }) },
  responses,
})
const ALL = createRoute({
  operationId: 'event.follow',
  summary: 'Events of all sessions that one may see, as they happen',
  method: 'get',
  path: '/v1/events',
  security: needs('sessions:read'),
  request,
  responses,
})

/** Serves what happens in one session, or in all that the caller may see, as it happens. */
export function eventRoutes() {
  return newRoutes()
    .openapi(ONE, async (context) => {
      const { req, var: rights } = context
      const { name } = req.valid('param')
      const query = req.valid('query')
      return stream(context, await rights.api.live.follow(name, asked(context, query)), query)
    })
    .openapi(ALL, async (context) => {
      const { req, var: rights } = context
      const query = req.valid('query')
      return stream(context, await rights.api.live.followAll(asked(context, query)), query)
    })
}

interface AskedQuery {
  readonly after?: string | undefined
  readonly deltas: boolean
  readonly named: boolean
}

function asked({ req, var: { ended } }: Context<ApiEnv>, { after, deltas }: AskedQuery): FollowRequest {
  return { after: placeAsked(req.header('last-event-id'), after), texts: deltas, ended }
}

/** The header goes first: a client that connects again asks the address that it began with. */
function placeAsked(header: string | undefined, query: string | undefined): StreamPlace | undefined {
  if (header !== undefined && header !== '') return parsePlace('Last-Event-ID', header)
  return query === undefined ? undefined : parsePlace('after', query)
}

/**
 * Writes to the connection itself: a web stream for each of 1,000 readers would cost more than all of their events.
 */
function stream(context: Context<ApiEnv>, followed: Followed, { named }: Pick<AskedQuery, 'named'>): Response {
  const { body, env, req } = context
  const answer = body(null, 200, STREAM_HEADERS)
  const { outgoing } = env as HttpBindings
  if (req.method === 'HEAD' || outgoing.destroyed) {
    followed.close()
    return answer
  }
  outgoing.once('close', followed.close)
  const events = new EventStream(outgoing, { all: followed.session === undefined, named })
  events.open(answer.headers, followed)
  followed.start(events)
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } })
}
