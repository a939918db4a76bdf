import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { ParleyError } from '../core/errors.ts'
import type { AskedOnce, Kept, KeptAnswer, KeyedRequests } from '../core/keyed-request.ts'
import { routeOf } from './gate.ts'
import type { ApiEnv } from './route.ts'

const WITH_EFFECT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const KEY = /^[\x21-\x7e]{1,255}$/

/** The routes whose first answer is kept in another way, or not. The answer of every other route with an effect is. */
export const NOT_KEPT: Readonly<Record<string, Exclude<Kept, 'answer'>>> = {
  // The log of the session has the answer, and `forget` reaches it there.
  'POST /v1/sessions/:name/messages': 'effect',
  'POST /v1/nodes/:id/messages': 'effect',
  // The outbox keeps the outcome of the text, which a repeated request reads.
  'POST /v1/notifications': 'effect',
  // The same, with a session; without one nothing is kept, and a repeat is answered anew.
  'POST /v1/chat/completions': 'effect',
  'POST /v1/tokens': 'nothing',
  'POST /v1/forget': 'numbers',
  'POST /v1/retention/run': 'numbers',
  'DELETE /v1/sessions/:name': 'numbers',
}

/** A hook takes the key itself: its call has one effect whether a token comes with it or not. */
const OWN_KEY = 'POST /v1/hooks/:name'

/**
 * Returns what carries out a request with an `Idempotency-Key` once (F-K08): the same request again gets the first
 * answer, another one with its key `conflict`. A key counts for one token and one route.
 */
export function createIdempotency(requests: KeyedRequests | undefined): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { req } = context
    const holder: string | undefined = context.get('holder')
    const key = req.header('idempotency-key')
    const route = routeOf(context)
    if (key === undefined || holder === undefined || !WITH_EFFECT.has(req.method) || route === OWN_KEY) {
      await next()
      return undefined
    }
    if (!requests) throw new ParleyError('unavailable', 'Nothing is kept here: send it without Idempotency-Key.')
    const asked = await askedOnce(context, { holder, route, key })
    for (;;) {
      let first = false
      const answer = await requests.once(asked, NOT_KEPT[route] ?? 'answer', async (id) => {
        first = true
        context.set('once', id)
        await next()
        return { status: context.res.status, body: await context.res.clone().text() }
      })
      if (first) return undefined
      // A stream went to the connection of the first: this one reads the effect itself.
      if (answer.body !== '') return again(answer)
    }
  }
}

function again({ status, body }: KeptAnswer): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json', 'idempotent-replayed': 'true' },
  })
}

/** Returns what is asked for. Throws `invalid`, and what reading the body throws. */
async function askedOnce(
  { req, var: { body } }: Context<ApiEnv>,
  named: Omit<AskedOnce, 'content'>,
): Promise<AskedOnce> {
  if (!KEY.test(named.key))
    throw new ParleyError('invalid', 'The header Idempotency-Key has 1 to 255 visible ASCII characters.')
  const { pathname, search } = new URL(req.url)
  const content = createHash('sha256')
    .update(JSON.stringify([pathname, search]))
    .update(await body.bytes())
    .digest('hex')
  return { ...named, content }
}
