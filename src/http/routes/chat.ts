import type { HttpBindings } from '@hono/node-server'
import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { type CompletionWatch, noSuchModel } from '../../core/operate-chat.ts'
import { chatErrorAnswer } from '../chat-errors.ts'
import { ChatStream, STREAM_HEADERS } from '../chat-stream.ts'
import { completedBy, completionOf, modelOf } from '../chat-words.ts'
import { type AskedChat, readChat } from '../read-chat.ts'
import { type ApiEnv, answersWith, needs, newRoutes } from '../route.ts'
import { chatBody } from '../schemas/chat.ts'
import { completion, completionError, listedModel, modelList } from '../schemas/completions.ts'

const header = (words: string) => z.string().optional().describe(words)

/** Their clients read no other form of an error. */
const failed = {
  description: 'Any failure, in the form of OpenAI',
  content: { 'application/json': { schema: completionError } },
}

const MODELS = createRoute({
  operationId: 'model.list',
  summary: 'Agents, as models',
  method: 'get',
  path: '/v1/models',
  security: needs('chat'),
  responses: { ...answersWith(modelList), default: failed },
})
const MODEL = createRoute({
  operationId: 'model.load',
  summary: 'An agent, as a model',
  method: 'get',
  path: '/v1/models/{id}',
  security: needs('chat'),
  request: { params: z.object({ id: z.string() }) },
  responses: { ...answersWith(listedModel), default: failed },
})
const CHAT = createRoute({
  operationId: 'chat.complete',
  summary: 'The answer of an agent to a conversation, in the form of OpenAI',
  method: 'post',
  path: '/v1/chat/completions',
  security: needs('chat'),
  // The body is read by its own reader: it may be long, and its errors are those of OpenAI.
  request: {
    headers: z.object({
      'X-Parley-Session': header('The conversation, as a name that the client chose; without it nothing is kept.'),
      'X-Parley-User': header('The one for whom the client asks; counts before `user`.'),
      'X-Parley-Task': header('Whatever is in it: the request is no part of its conversation.'),
    }),
    body: {
      required: true,
      content: {
        'application/json': { schema: z.toJSONSchema(chatBody, { unrepresentable: 'any', io: 'input' }) as object },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, or its pieces where a stream is asked for',
      content: { 'application/json': { schema: completion }, 'text/event-stream': { schema: z.string() } },
    },
    default: failed,
  },
})

/** Serves what clients of OpenAI ask for: the agents as models, and their answers. */
export function chatRoutes(clock: Clock = systemClock) {
  return newRoutes()
    .openapi(MODELS, ({ json, var: { api } }) =>
      json({ object: 'list' as const, data: api.chat.models().map(modelOf) }, 200),
    )
    .openapi(MODEL, ({ req, json, var: { api } }) => {
      const { id } = req.valid('param')
      const models = api.chat.models()
      const found = models.find((model) => model.id === id)
      if (found) return json(modelOf(found), 200)
      throw noSuchModel(id, models)
    })
    .openapi(CHAT, async (context) => {
      const { json, header } = context
      const asked = await readChat(context.req, context.var)
      const reply = replyOf(context, asked)
      const of = completedBy(asked.request.model, clock.now())
      if (asked.stream) return streamed(context, { asked, reply, of, clock })
      const mayReturn = () => context.var.ended?.aborted !== true
      const answer = await answered(context, asked, { grew() {}, mayReturn, ...reply })
      header('x-request-id', answer.traceId)
      return json(completionOf(of, answer), 200)
    })
}

/** The response, as its answer is watched. */
interface Reply extends Pick<CompletionWatch, 'left' | 'given'> {
  /** Called before a stream that has begun ends with an error, with the status that it would have had. */
  broke(status: number): void
}

/**
 * Watches the connection: its end before that of the response says that the client has gone. A client that named its
 * message by a key comes again for the answer, and whoever has sent the same meanwhile waits for this one.
 */
function replyOf(
  { env, var: { ended } }: Context<ApiEnv>,
  { request: { once, session } }: Pick<AskedChat, 'request'>,
): Reply {
  const { outgoing } = env as HttpBindings
  const gone = new AbortController()
  let failed: number | undefined
  const given = new Promise<boolean>((resolve) => {
    outgoing.once('finish', () => resolve(!isFailure(failed ?? outgoing.statusCode)))
    outgoing.once('close', () => {
      resolve(false)
      gone.abort()
    })
    if (outgoing.destroyed) {
      resolve(false)
      gone.abort()
    }
  })
  const comesAgain = once !== undefined && session !== undefined
  const left = ended === undefined ? gone.signal : AbortSignal.any([gone.signal, ended])
  return {
    ...{ given, left: comesAgain ? (ended ?? new AbortController().signal) : left },
    broke(status) {
      failed = status
    },
  }
}

/** Clients send a request again that ended so, and mean the same one. */
function isFailure(status: number): boolean {
  return status === 429 || status >= 500
}

async function answered({ var: { api, ended } }: Context<ApiEnv>, { request }: AskedChat, watch: CompletionWatch) {
  try {
    return await api.chat.answer(request, watch)
  } catch (error) {
    if (ended?.aborted) throw new ParleyError('unauthorized', 'The token has ended.')
    throw error
  }
}

interface Streaming {
  readonly asked: AskedChat
  readonly reply: Reply
  readonly of: ReturnType<typeof completedBy>
  readonly clock: Clock
}

/** Writes to the connection itself, so that a client that has left is known of at once. */
async function streamed(context: Context<ApiEnv>, { asked, reply, of, clock }: Streaming): Promise<Response> {
  const { outgoing: response } = context.env as HttpBindings
  const { headers } = context.body(null, 200, STREAM_HEADERS)
  const stream = new ChatStream({ response, headers, clock, of, usage: asked.usage })
  try {
    stream.end(await answered(context, asked, { grew: stream.grew, ...reply }))
  } catch (error) {
    if (!stream.begun) {
      stream.abandon()
      throw error
    }
    reply.broke(chatErrorAnswer(error).status)
    stream.fail(error)
  }
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } })
}
