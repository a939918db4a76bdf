import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { DeliveryPage } from '../../src/core/operate-parts.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

interface Asked {
  readonly path: string
  readonly body: unknown
}

/** Asks over the local socket, with the same key each time. Rejects if the daemon dies before it answers. */
async function askKeyed({ socketPath }: Scene, { path, body }: Asked) {
  const headers = { 'idempotency-key': 'the-same' }
  const call = request({ socketPath, path, method: 'POST', headers, agent: false })
  call.end(JSON.stringify(body))
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, json: JSON.parse(text) as Record<string, unknown> }
}

async function list({ socketPath }: Scene, path: string): Promise<unknown> {
  const call = request({ socketPath, path, agent: false })
  call.end()
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return JSON.parse(text)
}

const POST: Asked = { path: '/v1/sessions/cli:desk/messages', body: { text: 'hello', waitSeconds: 60 } }
const START: Asked = { path: '/v1/sessions', body: { name: 'api:made' } }
const FORK: Asked = {
  path: '/v1/archives/cli:desk/relocate',
  body: { kind: 'fork', to: 'cli:other', confirmed: true },
}
const TOKEN: Asked = { path: '/v1/tokens', body: { namespace: 'api' } }

const CASES: readonly (readonly [string, Asked, FailpointSpec])[] = [
  ['a text', POST, 'CP4-claimed'],
  ['a start', START, 'CP48-keyed-request-carried-out'],
  ['a fork', FORK, 'CP25-move-committed'],
  ['a token', TOKEN, 'CP48-keyed-request-carried-out'],
  ['a text', POST, 'CP49-keyed-request-begun'],
  ['a text', POST, 'CP6-model-answer-uncommitted'],
  ['a text', POST, 'CP48-keyed-request-carried-out'],
  ['a start', START, 'CP49-keyed-request-begun'],
  ['a fork', FORK, 'CP24-move-uncommitted'],
  ['a fork', FORK, 'CP48-keyed-request-carried-out'],
  ['a token', TOKEN, 'CP49-keyed-request-begun'],
]

describe.concurrent('a kill in a request with a key', CASE, () => {
  for (const [what, asked, point] of rounds(CASES, 4)) {
    it(`F-K08: ${what}, killed at ${point}: the same request has one effect`, async (test) => {
      const scene = await startScene(test)
      if (asked === FORK) {
        await scene.daemon.start()
        await askKeyed(scene, POST)
        await scene.daemon.terminate()
      }
      await scene.daemon.start(point)
      await expect(askKeyed(scene, asked)).rejects.toThrow()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const answer = await askKeyed(scene, asked)
      expect(answer.status).toBe(200)
      const again = await askKeyed(scene, asked)
      if (asked === TOKEN) expect(again.status).toBe(409)
      else expect(again).toEqual(answer)
      const { total } = (await list(scene, '/v1/sessions?inactive=true')) as { readonly total: number }
      expect(total).toBe({ [POST.path]: 1, [START.path]: 1, [FORK.path]: 2, [TOKEN.path]: 0 }[asked.path])
      expect(await list(scene, '/v1/tokens')).toHaveLength(asked === TOKEN ? 1 : 0)
      // A copy of a log has its turns too, so that the invariants count them twice.
      if (asked === FORK) return
      const { events } = await scene.finish()
      const said = events.filter(({ type, data }) => type === 'user_message' && data.includes('hello'))
      expect(said).toHaveLength(asked === POST ? 1 : 0)
    })
  }
})

/** Where it is killed, and how often the text may stand in the chat: behind a send nobody knows, so a copy has its mark. */
const RETRIES: readonly (readonly [FailpointSpec, number])[] = [
  ['CP51-retry-committed', 1],
  ['CP12-bytes-written', 2],
  ['CP49-keyed-request-begun', 1],
  ['CP11-sending-committed', 1],
  ['CP48-keyed-request-carried-out', 1],
]

describe.concurrent('a kill between an operator’s word to send once more and the send', CASE, () => {
  for (const [point, most] of rounds(RETRIES, 3)) {
    it(`F-K08, F-A09: killed at ${point}: what was not delivered is sent, and the word counts once`, async (test) => {
      const scene = await startScene(test)
      const { faults, world } = scene.telegram
      const body = { ok: false, error_code: 400, description: 'Bad Request: chat not found' }
      const refusing = faults.add({
        method: 'sendMessage',
        times: Number.POSITIVE_INFINITY,
        action: { kind: 'answer', when: 'before', status: 400, body },
      })
      await scene.daemon.start()
      world.say({ from: ADA, text: 'hello' })
      const refused = () => list(scene, '/v1/deliveries?state=rejected') as Promise<DeliveryPage>
      await expect.poll(async () => (await refused()).deliveries.length, { timeout: 50_000 }).toBe(1)
      const [delivery] = (await refused()).deliveries
      await scene.daemon.terminate()
      refusing.remove()
      await scene.daemon.start(point)
      const retry: Asked = { path: `/v1/deliveries/${delivery?.id}/retry`, body: {} }
      await askKeyed(scene, retry).catch(() => {})
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      expect((await askKeyed(scene, retry)).status).toBe(200)
      await scene.settle([ADA])
      await scene.finish()
      const texts = scene.texts(ADA).filter((text) => /^(\(repeat\) )?echo hello$/.test(text))
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.length).toBeLessThanOrEqual(most)
      expect(texts.filter((text) => !text.startsWith('(repeat)')).length).toBeLessThanOrEqual(1)
    })
  }
})
