import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import type { LogFields, Logger } from '../../src/core/logger.ts'
import { createRoutes } from '../../src/http/app.ts'
import { startLocalApi } from '../../src/http/local-api.ts'
import { localFolder } from '../fakes/local-folder.ts'
import {
  type FakeOperator,
  fakeOperator,
  sampleRestoration,
  sampleSchedule,
  sampleSession,
  sampleStatus,
  sampleWhy,
} from '../fakes/operator.ts'
import { undocumented } from './conforms.ts'

interface Rig {
  readonly operator: FakeOperator
  readonly logged: { sentence: string; fields?: LogFields | undefined }[]
  /** A text is sent as it is, everything else as JSON. */
  ask(
    path: string,
    method?: string,
    headers?: Record<string, string>,
    body?: unknown,
  ): Promise<{ status: number | undefined; body: unknown }>
}

async function rig(overrides: Parameters<typeof fakeOperator>[0] = {}): Promise<Rig> {
  const operator = fakeOperator(overrides)
  const logged: Rig['logged'] = []
  const log = (sentence: string, fields?: LogFields): void => void logged.push({ sentence, fields })
  const logger: Logger = { debug: log, info: log, warn: log, error: log, child: () => logger }
  const socketPath = join(await localFolder(), 'parley.sock')
  const api = await startLocalApi({ socketPath, service: operator, logger })
  onTestFinished(() => api.close())
  return {
    operator,
    logged,
    async ask(path, method = 'GET', headers = {}, given = undefined) {
      const call = request({ socketPath, path, method, headers, agent: false })
      call.end(given === undefined || typeof given === 'string' ? given : JSON.stringify(given))
      const [response] = (await once(call, 'response')) as [IncomingMessage]
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      const answer = { status: response.statusCode, body: body === '' ? undefined : JSON.parse(body) }
      if (method !== 'HEAD') expect(undocumented({ method, path, ...answer })).toEqual([])
      return answer
    },
  }
}

let parley: Rig
beforeEach(async () => {
  parley = await rig()
})

const refused = (code: string) => ({ error: { code, message: expect.any(String) } })

describe('a request', () => {
  test('GET /healthz answers without asking anything', async () => {
    expect(await parley.ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } })
    expect(parley.operator.asked).toEqual([])
  })

  test('GET /v1/status answers the report', async () => {
    expect(await parley.ask('/v1/status')).toEqual({ status: 200, body: sampleStatus })
  })

  test('GET /v1/schedules and the next slots of one', async () => {
    expect(await parley.ask('/v1/schedules')).toEqual({ status: 200, body: [sampleSchedule] })
    expect((await parley.ask('/v1/schedules/morning/next?count=2')).body).toHaveLength(2)
    expect((await parley.ask('/v1/schedules/morning/next')).body).toHaveLength(5)
    expect((await parley.ask('/v1/schedules/morning/next?count=x')).status).toBe(400)
    expect((await parley.ask('/v1/schedules/nobody/next')).status).toBe(404)
  })

  test('POST /v1/schedules/<id>/pause and /resume, and DELETE of one, answer it', async () => {
    for (const [method, path] of [
      ['POST', '/morning/pause'],
      ['POST', '/morning/resume'],
      ['DELETE', '/morning'],
    ] as const)
      expect(await parley.ask(`/v1/schedules${path}`, method)).toEqual({ status: 200, body: sampleSchedule })
    expect(parley.operator.asked).toEqual([{ pause: 'morning' }, { resume: 'morning' }, { remove: 'morning' }])
    expect((await parley.ask('/v1/schedules/nobody/pause', 'POST')).status).toBe(404)
  })

  test('POST /v1/schedules/<id>/run starts it; GET does not', async () => {
    expect((await parley.ask('/v1/schedules/morning/run')).status).toBe(404)
    expect(parley.operator.asked).toEqual([])
    expect(await parley.ask('/v1/schedules/morning/run', 'POST')).toMatchObject({ body: { traceId: 'tr_2' } })
    expect((await parley.ask('/v1/schedules/nobody/run', 'POST')).status).toBe(404)
  })

  test('GET /v1/why answers the traces of a message, and none for one never received', async () => {
    expect(await parley.ask('/v1/why?message=tr_1')).toEqual({ status: 200, body: [sampleWhy] })
    expect(await parley.ask('/v1/why?message=7%2F8%20%26x')).toEqual({ status: 200, body: [] })
    expect(parley.operator.asked).toEqual(['tr_1', '7/8 &x'])
  })

  test('GET /v1/sessions passes the query on, with defaults', async () => {
    await parley.ask('/v1/sessions')
    const { body } = await parley.ask('/v1/sessions?limit=1&offset=1&inactive=true')
    expect(parley.operator.asked).toEqual([
      { limit: 50, offset: 0, inactive: false },
      { limit: 1, offset: 1, inactive: true },
    ])
    expect(body).toMatchObject({ total: 2, sessions: [{ key: 'main' }] })
  })

  test.each(['a:b', 'a/b', 'T01/C1@50%', '%2F', '%', '?q=1#x', 'é ü 日本', '+ &', '..a', '~'])(
    'GET /v1/sessions/<name> takes the name %j as it is',
    async (name) => {
      const { status, body } = await parley.ask(`/v1/sessions/${encodeURIComponent(name)}`)
      expect(parley.operator.asked).toEqual([name])
      expect([status, body]).toEqual([404, refused('not_found')])
    },
  )

  test('F-F08: what is held after the database was put back is listed, and decided about', async () => {
    expect(await parley.ask('/v1/outbox/restoration')).toEqual({ status: 200, body: [sampleRestoration] })
    expect((await parley.ask('/v1/outbox/resume', 'POST')).body).toMatchObject({ state: 'resumed' })
    expect((await parley.ask('/v1/outbox/discard', 'POST')).body).toMatchObject({ state: 'discarded' })
    expect(parley.operator.asked).toEqual(['restoration', { outbox: 'resume' }, { outbox: 'discard' }])
  })

  test('GET /v1/sessions/<name> answers the session', async () => {
    const { status, body } = await parley.ask(`/v1/sessions/${encodeURIComponent(sampleSession.key)}`)
    expect([status, body]).toEqual([200, sampleSession])
  })
})

describe('a change of a session', () => {
  const at = `/v1/sessions/${encodeURIComponent(sampleSession.key)}`

  test('T29: PATCH passes the changes on as they came', async () => {
    const { status, body } = await parley.ask(at, 'PATCH', {}, { sendPolicy: 'deny', model: null })
    expect([status, body]).toMatchObject([200, { sendPolicy: 'deny' }])
    expect(parley.operator.asked).toEqual([{ patch: sampleSession.key, changes: { sendPolicy: 'deny', model: null } }])
  })

  test('a name that JavaScript gives a meaning reaches the service, which refuses it', async () => {
    const changes = JSON.parse('{"__proto__": null, "model": null}')
    await parley.ask(at, 'PATCH', {}, changes)
    const [asked] = parley.operator.asked as [{ readonly changes: object }]
    expect(Object.keys(asked.changes)).toEqual(['__proto__', 'model'])
  })

  test('a body nested more deeply than can be handled is refused', async () => {
    const depth = 20_000
    const body = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    expect((await parley.ask(at, 'PATCH', {}, body)).status).toBe(400)
    expect(parley.operator.asked).toEqual([])
  })

  test('R3: it is renamed and deleted by its name', async () => {
    expect(await parley.ask(`${at}/name`, 'POST', {}, { title: 'Lunch' })).toMatchObject({
      body: { description: 'Lunch' },
    })
    expect(await parley.ask(at, 'DELETE')).toEqual({ status: 200, body: { deleted: true } })
    expect(parley.operator.asked).toEqual([
      { rename: sampleSession.key, title: 'Lunch' },
      { delete: sampleSession.key },
    ])
  })

  test('K33: what the model is shown of it is set', async () => {
    const boundary = { kind: 'truncated', turns: 3 }
    expect((await parley.ask(`${at}/history`, 'POST', {}, boundary)).status).toBe(200)
    expect(parley.operator.asked).toEqual([{ setHistory: sampleSession.key, boundary }])
  })

  test('R2: its history is paged', async () => {
    expect((await parley.ask(`${at}/history?limit=2&before=9`)).body).toMatchObject({ total: 2, before: 1 })
    await parley.ask(`${at}/history`)
    expect(parley.operator.asked).toEqual([
      { history: sampleSession.key, limit: 2, before: 9 },
      { history: sampleSession.key, limit: 50 },
    ])
  })
})

describe('bad input', () => {
  test.each([
    ['/v1/why', 400, 'invalid'],
    ['/v1/why?message=', 400, 'invalid'],
    ['/v1/why?message=%20', 400, 'invalid'],
    ['/v1/sessions?limit=0', 400, 'invalid'],
    ['/v1/sessions?limit=201', 400, 'invalid'],
    ['/v1/sessions?limit=', 400, 'invalid'],
    ['/v1/sessions?limit=1.5', 400, 'invalid'],
    ['/v1/sessions?limit=0x10', 400, 'invalid'],
    [`/v1/sessions?limit=${'9'.repeat(30)}`, 400, 'invalid'],
    ['/v1/sessions?offset=-1', 400, 'invalid'],
    ['/v1/sessions?inactive=yes', 400, 'invalid'],
    ['/v1/sessions/none', 404, 'not_found'],
    ['/v1/sessions/', 404, 'not_found'],
    ['/v1/sessions/a/b', 404, 'not_found'],
    ['/v1/nothing', 404, 'not_found'],
    ['/', 404, 'not_found'],
    ['/v1/sessions/%E0%A4', 404, 'not_found'],
  ])('%s is answered with %i %s', async (path, status, code) => {
    expect(await parley.ask(path)).toEqual({ status, body: refused(code) })
    expect(parley.logged).toEqual([])
  })

  test.each([
    ['/v1/sessions?limit=1&limit=2', 'limit'],
    ['/v1/sessions?inactive=true&inactive=true', 'inactive'],
    ['/v1/why?message=1&message=2', 'message'],
  ])('a value that %s gives twice is refused as such', async (path, name) => {
    const { status, body } = await parley.ask(path)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: `"${name}" may be given only once` } })
  })

  test.each([
    ['PATCH', '/v1/sessions/none', {}],
    ['PATCH', '/v1/sessions/none', undefined],
    ['POST', '/v1/sessions/none/name', { title: ' ' }],
    ['POST', '/v1/sessions/none/name', []],
    ['DELETE', '/v1/sessions/none', undefined],
    ['GET', '/v1/sessions/none/history?limit=x', undefined],
  ])('%s %s with %j is refused', async (method, path, body) => {
    const { status } = await parley.ask(path, method, {}, body)
    expect([400, 404]).toContain(status)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s changes nothing and is not found', async (method) => {
    expect(await parley.ask('/v1/status', method)).toEqual({ status: 404, body: refused('not_found') })
    expect(parley.operator.asked).toEqual([])
  })

  test('F-K06: no header makes a request more or less trusted', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.9',
      forwarded: 'for=203.0.113.9',
      host: 'evil.example',
      origin: 'https://evil.example',
    }
    expect(await parley.ask('/v1/status', 'GET', headers)).toEqual({ status: 200, body: sampleStatus })
  })
})

describe('a service that fails', () => {
  test.each([
    ['conflict', 409],
    ['forbidden', 403],
    ['unavailable', 503],
    ['queue_full', 429],
    ['too_long', 413],
    ['model_failed', 502],
  ] as const)('with %s answers %i and its message', async (code, status) => {
    const { ask, logged } = await rig({ status: () => Promise.reject(new ParleyError(code, 'because')) })
    expect(await ask('/v1/status')).toEqual({ status, body: { error: { code, message: 'because' } } })
    expect(logged).toEqual([])
  })

  test.each([
    ['an unknown error', new Error('secret detail')],
    ['an internal error of ours', new ParleyError('internal', 'secret detail')],
    ['a thrown text', 'secret detail'],
  ])('with %s answers 500 without detail and is logged once', async (_what, thrown) => {
    const { ask, logged } = await rig({ status: () => Promise.reject(thrown) })
    const { status, body } = await ask('/v1/status')
    expect([status, body]).toEqual([500, refused('internal')])
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(logged).toEqual([
      { sentence: 'A local request failed', fields: expect.objectContaining({ path: '/v1/status' }) },
    ])
  })
})

test('the routes describe themselves, with what they are asked', () => {
  const app = createRoutes()
  const { paths = {} } = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Parley', version: '1' } })
  expect(Object.keys(paths['/v1/sessions/{name}'] ?? {})).toEqual(['get', 'patch', 'delete'])
  expect(paths['/v1/sessions']?.get?.parameters?.map((one) => 'name' in one && one.name)).toEqual([
    'limit',
    'offset',
    'cursor',
    'inactive',
  ])
  expect(paths['/v1/sessions/{name}/messages']?.post).toMatchObject({
    requestBody: { content: { 'application/json': { schema: { required: ['text'] } } } },
  })
})
