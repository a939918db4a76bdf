import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Fetch } from '../../src/client/call.ts'
import { ApiError, createClient, type ParleyClient } from '../../src/client/client.ts'
import { SCOPES } from '../../src/core/token.ts'
import { sampleSession } from '../fakes/operator.ts'
import { DOCUMENT } from '../http/conforms.ts'
import { apiRig } from '../http/rig.ts'
import { removeTempFolders } from '../store/temp-database.ts'

removeTempFolders()

/** Operations that are no call with one answer, each with where a program finds it instead. */
const NO_CALL: Readonly<Record<string, string>> = {
  'document.page': 'a page for people',
  'session.follow': 'a stream: followEvents',
  'event.follow': 'a stream',
  'health.ready': 'for probes, which look at the status',
  'health.metrics': 'a page for Prometheus',
  'hook.call': 'signed by the program that calls',
  'chat.complete': 'for clients of OpenAI',
}

/** The operations of the document, and where each lies. */
const DOCUMENTED = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({
    operation: operationId,
    request: `${method.toUpperCase()} ${path}`,
  })),
)

const methodsOf = (client: ParleyClient) =>
  Object.entries(client).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(
      ([verb, method]) => [`${noun}.${verb}`, method as (...given: unknown[]) => unknown] as const,
    ),
  )

/** A number of a path is a number; every other name is a text. */
const GIVEN: Readonly<Record<string, readonly unknown[]>> = {
  'memory.show': [7],
  'memory.remove': [7],
  'session.create': [{ workspace: 'here' }],
}

describe('the client', () => {
  test('has every operation of the document under its name, and no other; each asks for its own path', async () => {
    const asked: string[] = []
    const fetch: Fetch = async (url, { method }) => {
      asked.push(`${method} ${new URL(url).pathname.replace(/(?<=\/)(here|7)(?=\/|$)/, '{}')}`)
      return { status: 200, text: async () => '{}' }
    }
    const client = createClient({ baseUrl: 'http://parley.test/', token: 't', fetch })
    const seen: Record<string, string> = {}
    for (const [operation, method] of methodsOf(client)) {
      await method(...(GIVEN[operation] ?? ['here', {}]))
      seen[operation] = asked.at(-1) ?? ''
    }
    const documented = DOCUMENTED.filter(({ operation }) => !(operation in NO_CALL)).map(({ operation, request }) => [
      operation,
      request.replace(/\{\w+\}/, '{}'),
    ])
    expect(seen).toEqual(Object.fromEntries(documented))
    expect(asked).toHaveLength(documented.length)
  })

  test('asks a daemon: names, queries and bodies arrive as they are given', async () => {
    const { port, bearer, operator } = await apiRig()
    const client = await clientOf(port, bearer)
    expect(await client.session.load(sampleSession.key)).toEqual(sampleSession)
    expect(await client.session.list({ limit: 1 })).toMatchObject({ total: 2, sessions: [{ id: sampleSession.id }] })
    expect(await client.agent.prompt(sampleSession.id, { text: 'é\n"' })).toMatchObject({ status: 'ok', reply: 'echo' })
    expect(await client.schedule.next('morning', 2)).toHaveLength(2)
    expect(operator.asked).toEqual([
      sampleSession.key,
      { limit: 1, offset: 0, inactive: false },
      { post: sampleSession.id, text: 'é\n"' },
      { id: 'morning', count: 2 },
    ])
  })

  test('a client with a key sends it with what has an effect, and a path below that of a proxy stays there', async () => {
    const asked: unknown[] = []
    const fetch: Fetch = async (url, { method, headers }) => {
      asked.push([method, url, headers['idempotency-key']])
      return { status: 200, text: async () => '{}' }
    }
    const client = createClient({ baseUrl: 'http://parley.test/bot/', idempotencyKey: 'one', fetch })
    await client.agent.prompt('api:x', { text: 'hello' })
    await client.status.show()
    expect(asked).toEqual([
      ['POST', 'http://parley.test/bot/v1/sessions/api%3Ax/messages', 'one'],
      ['GET', 'http://parley.test/bot/v1/status', undefined],
    ])
  })

  test('rejects with the code, the status and the words of the daemon', async () => {
    const { port, bearer } = await apiRig()
    const client = await clientOf(port, bearer)
    expect(await refused(client.session.load('nobody'))).toMatchObject({ code: 'not_found', status: 404 })
    expect(await refused(client.session.list({ limit: 900 }))).toMatchObject({ code: 'invalid', status: 400 })
    const stranger = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'x' })
    expect(await refused(stranger.status.show())).toMatchObject({ code: 'unauthorized', status: 401 })
    for (const name of ['', '.', '..'])
      expect(await refused(client.session.load(name))).toMatchObject({ code: 'not_found', status: 0 })
  })

  test('rejects as unavailable where nobody answers, nobody answers in time, or something else answers', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/healthz') response.end('<html></html>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => server.closeAllConnections())
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createClient({ baseUrl })
    expect(await refused(client.health.show())).toMatchObject({ code: 'unavailable', status: 200 })
    const hasty = createClient({ baseUrl, timeoutMs: 50 })
    const late = { code: 'unavailable', status: 0, message: expect.stringContaining('within 0.05 s') }
    expect(await refused(hasty.status.show())).toEqual(late)
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
    // The connection that was kept has been closed, and nobody takes another.
    expect(await refused(client.health.show())).toMatchObject({ code: 'unavailable', status: 0 })
    const nobody = { code: 'unavailable', status: 0, message: expect.stringContaining('refused the connection') }
    expect(await refused(client.health.show())).toEqual(nobody)
  })
})

/** Returns what a call was refused with. */
async function refused(call: Promise<unknown>): Promise<Pick<ApiError, 'code' | 'status' | 'message'>> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ApiError)) throw new Error('The call was not refused.', { cause: error })
  const { code, status, message } = error
  return { code, status, message }
}

async function clientOf(port: number, bearer: Awaited<ReturnType<typeof apiRig>>['bearer']): Promise<ParleyClient> {
  const { headers } = await bearer(SCOPES)
  return createClient({ baseUrl: `http://127.0.0.1:${port}`, token: headers.authorization.slice('Bearer '.length) })
}
