import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { lastUserText } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { KILLED, type Scene, startScene } from './scene.ts'
import { asksFor, UNKNOWN } from './tool-scripts.ts'

const WORDS = 'where is the harbour?'

interface Asked {
  readonly session?: string
  readonly stream?: boolean
  readonly key?: string
}

/** Asks over the local socket as a client of OpenAI. Rejects if the daemon dies before the answer is whole. */
async function complete(
  scene: Scene,
  { key, session, ...more }: Asked,
): Promise<{ status: number | undefined; text: string }> {
  const headers = {
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(session === undefined ? {} : { 'x-parley-session': session }),
  }
  return send(scene, '/v1/chat/completions', {
    headers,
    body: { model: 'main', messages: [{ role: 'user', content: WORDS }], ...more },
  })
}

/** Returns the words of an answer, whole or in pieces. */
function answerIn({ text }: { readonly text: string }): string {
  const parts = text.startsWith('data: ') ? text.split('\n\n').filter((part) => part.includes('{')) : [text]
  return parts
    .flatMap((part) => JSON.parse(part.replace(/^data: /, '')).choices)
    .map(({ delta, message }) => (delta ?? message).content ?? '')
    .join('')
}

async function send(
  { socketPath }: Scene,
  path: string,
  { headers = {}, body }: { readonly headers?: Record<string, string>; readonly body?: object } = {},
) {
  const call = request({ socketPath, path, method: body === undefined ? 'GET' : 'POST', headers, agent: false })
  call.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, text }
}

const KEPT: readonly (readonly [string, FailpointSpec, Asked])[] = [
  ['F-A04: a stream', 'CP5-mid-stream', { session: 'bob', stream: true }],
  ['F-K08: a stream with a key', 'CP6-model-answer-uncommitted', { session: 'bob', stream: true, key: 'the-same' }],
  ['F-K08: a request with a key', 'CP4-claimed', { session: 'bob', key: 'the-same' }],
  ['F-A03: a stream', 'CP4-claimed', { session: 'bob', stream: true }],
  ['F-A05: a request', 'CP6-model-answer-uncommitted', { session: 'bob' }],
  ['F-K08: a request with a key', 'CP49-keyed-request-begun', { session: 'bob', key: 'the-same' }],
  ['F-K08: a request with a key', 'CP48-keyed-request-carried-out', { session: 'bob', key: 'the-same' }],
]

const TOOLS: readonly (readonly [FailpointSpec, string])[] = [
  ['CP9-tool-done-uncommitted', UNKNOWN],
  ['CP6-model-answer-uncommitted:2', 'once done'],
]

describe.concurrent('a kill while a client of OpenAI waits', CASE, () => {
  for (const [what, point, asked] of rounds(KEPT, 3)) {
    it(`${what} with a session, killed at ${point}: the session has the question once and the answer once`, async (test) => {
      const scene = await startScene(test)
      await scene.daemon.start(point)
      await expect(complete(scene, asked)).rejects.toThrow()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      // The client comes again, and its session is in order: behind the next answer nothing is owed.
      expect(answerIn(await complete(scene, asked))).toBe(`echo ${WORDS}`)
      if (asked.key) expect(answerIn(await complete(scene, asked))).toBe(`echo ${WORDS}`)
      const next = await send(scene, '/v1/sessions/api:bob/messages', { body: { text: 'and then?', waitSeconds: 60 } })
      expect(next).toMatchObject({ status: 200, text: expect.stringContaining('and then?') })
      const { events } = await scene.finish()
      const said = events.filter(({ data }) => data.includes(WORDS)).map(({ type }) => type)
      expect(said).toEqual(['user_message', 'assistant_message'])
    })
  }

  for (const [point, told] of rounds(TOOLS, 2)) {
    it(`F-A07: with a session, killed at ${point}: the request that comes again is answered, and its tool ran once`, async (test) => {
      const scene = await startScene(test, { script: asksFor('probe_once') })
      await scene.daemon.start(point)
      const asked = { session: 'bob', stream: true }
      await expect(complete(scene, asked)).rejects.toThrow()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      expect(answerIn(await complete(scene, asked))).toContain(`told: ${told}`)
      expect(scene.probes()).toHaveLength(1)
      const { events } = await scene.finish()
      expect(events.filter(({ type }) => type === 'user_message')).toHaveLength(1)
    })
  }

  for (const point of rounds(['CP6-model-answer-uncommitted', 'CP5-mid-stream'] as const, 2)) {
    it(`F-A05: without a session, killed at ${point}: nothing is kept, nothing is asked again`, async (test) => {
      const scene = await startScene(test)
      await scene.daemon.start(point)
      await expect(complete(scene, { stream: true })).rejects.toThrow()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const { text } = await send(scene, '/v1/sessions?inactive=true')
      expect(JSON.parse(text)).toMatchObject({ total: 0 })
      const { events, inbox, turns } = await scene.finish()
      expect({ events, inbox, turns }).toEqual({ events: [], inbox: [], turns: [] })
      const requests = scene.anthropic.ledger.requests().filter((one) => lastUserText(one).includes(WORDS))
      expect(requests).toHaveLength(1)
    })
  }
})
