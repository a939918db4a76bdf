import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const SECRET = 'canary-of-the-hook'
const BODY = '{"broke":"the build"}'

/** Returns a call as a program sends it again where it had no answer: nothing of it changes. */
function signedCall(id: string | undefined) {
  const at = String(Date.now())
  const made = createHmac('sha256', SECRET).update(`${at}.${BODY}`).digest('hex')
  const headers = { 'x-parley-timestamp': at, 'x-parley-signature': `v1=${made}` }
  return { ...headers, ...(id === undefined ? {} : { 'idempotency-key': id }) }
}

/** Calls over the local socket. Rejects if the daemon dies before it answers. */
async function callHook({ socketPath }: Scene, headers: Readonly<Record<string, string>>) {
  const call = request({ socketPath, path: '/v1/hooks/build', method: 'POST', headers, agent: false })
  call.end(BODY)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, json: JSON.parse(text) as Record<string, unknown> }
}

const CASES: readonly (readonly [string | undefined, FailpointSpec, 'accepted' | 'repeated'])[] = [
  ['call-1', 'CP50-call-noted', 'accepted'],
  [undefined, 'CP50-call-noted', 'accepted'],
  ['call-1', 'CP4-claimed', 'repeated'],
]

describe.concurrent('a kill in a call of a hook', CASE, () => {
  for (const [id, point, status] of rounds(CASES, 2)) {
    it(`T34: a call ${id === undefined ? 'without' : 'with'} an id, killed at ${point} and made again, is run once`, async (test) => {
      const inboundHooks = [{ name: 'build', secret: SECRET, signature: 'parley' as const, sessions: [] }]
      const scene = await startScene(test, { inboundHooks })
      const headers = signedCall(id)
      await scene.daemon.start(point)
      // The answer may be there before the turn is claimed.
      await callHook(scene, headers).catch(() => undefined)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const answer = await callHook(scene, headers)
      expect(answer).toMatchObject({ status: 202, json: { status } })
      const again = await callHook(scene, headers)
      if (id === undefined) expect(again.status).toBe(409)
      else expect(again).toEqual({ ...answer, json: { ...answer.json, status: 'repeated' } })
      await scene.settle([ADA])
      const { events, sessions } = await scene.finish()
      expect(sessions.filter((session) => session.id.startsWith('hook:'))).toMatchObject([{ id: answer.json.session }])
      const said = events.filter(({ session_id: session }) => session === answer.json.session)
      expect(said.filter(({ data }) => data.includes('the build')).map(({ type }) => type)).toEqual([
        'user_message',
        'assistant_message',
      ])
    })
  }
})
