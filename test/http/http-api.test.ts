import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { SCOPES, type Scope } from '../../src/core/token.ts'
import { createRoutes } from '../../src/http/app.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { apiRig } from './rig.ts'

removeTempFolders()

interface Route {
  readonly method: string
  readonly path: string
  readonly scope: Scope | undefined
}

const ROUTES: readonly Route[] = createRoutes().openAPIRegistry.definitions.flatMap((definition) => {
  if (definition.type !== 'route') return []
  const { method, path, security } = definition.route
  const scope = security?.[0]?.token?.[0] as Scope | undefined
  return [{ method: method.toUpperCase(), path: path.replaceAll(/\{.+?\}/g, 'x'), scope }]
})
/** Everybody may ask for the first two pages; any token opens the third. The rest is answered to whoever says nothing. */
const WITHOUT_SCOPE = ['/healthz', '/v1/docs', '/v1/openapi.json', '/readyz', '/v1/hooks/x']
const GUARDED = ROUTES.filter(({ path }) => !WITHOUT_SCOPE.includes(path))

it('F-K01: every route but /healthz and those of the document names a scope that there is', () => {
  expect(GUARDED.length).toBeGreaterThan(30)
  expect(GUARDED.filter(({ scope }) => scope === undefined || !SCOPES.includes(scope))).toEqual([])
})

it('F-K01: without a valid token of its scope every route, and every path that is none, gives one answer and does nothing', async () => {
  const { ask, bearer, tokens, operator } = await apiRig()
  const { id, headers: revoked } = await bearer(SCOPES)
  await tokens.operator.revoke(id)
  const nobody = [
    {},
    { authorization: 'Bearer x' },
    { authorization: `Bearer ply_${'0'.repeat(12)}_${'a'.repeat(43)}` },
  ]
  for (const headers of [...nobody, revoked]) {
    // The limit of wrong tokens has a test of its own.
    const paths = [...GUARDED.slice(0, 3), { method: 'GET', path: '/v1/nothing' }, { method: 'DELETE', path: '/' }]
    const answers = await Promise.all(paths.map(({ method, path }) => ask(path, { method, headers })))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 401))
  }
  for (const { method, path, scope } of GUARDED) {
    const { headers } = await bearer(SCOPES.filter((one) => one !== scope))
    const { status, text } = await ask(path, { method, headers })
    expect([method, path, status, text]).toEqual([method, path, 403, expect.stringContaining(`no scope ${scope}`)])
  }
  expect(operator.asked).toEqual([])
})

it('F-K01: a token of its scope is answered', async () => {
  const { ask, bearer } = await apiRig()
  const { headers } = await bearer(['operate:read'])
  expect((await ask('/v1/status', { headers })).status).toBe(200)
  expect((await ask('/v1/nothing', { headers })).status).toBe(404)
  expect((await ask('/healthz')).status).toBe(200)
})

it('F-K02, F-K03: a name or a page that is not allowed is refused, whatever token it has', async () => {
  const { ask, bearer, port } = await apiRig()
  const { headers } = await bearer(['operate:read'])
  const status = async (more: Readonly<Record<string, string>>) =>
    (await ask('/v1/status', { headers: { ...headers, ...more } })).status
  const named = 'parley.example.org'
  for (const host of [`localhost:${port}`, named, `${named}:443`, `${named}:80`, `${named}:${port}`])
    expect([host, await status({ host })]).toEqual([host, 200])
  for (const host of ['evil.org', `evil.org:${port}`, 'localhost', `localhost:${port + 1}`, `x.${named}`, `${named}:8`])
    expect([host, await status({ host })]).toEqual([host, 403])
  const own = `http://127.0.0.1:${port}`
  for (const origin of [own, 'https://app.example.org'])
    expect([origin, await status({ origin })]).toEqual([origin, 200])
  for (const origin of [
    'null',
    'https://evil.org',
    'http://app.example.org',
    'https://app.example.org:8',
    `${own}.org`,
  ])
    expect([origin, await status({ origin })]).toEqual([origin, 403])
})

it('F-K02: the refusal of a name says which one to add to http.hosts, escaped and cut', async () => {
  const { ask } = await apiRig()
  const refusal = async (more: Readonly<Record<string, string>>) => (await ask('/v1/status', { headers: more })).text
  expect(await refusal({ host: 'host.docker.internal:8080' })).toContain(
    'The name \\"host.docker.internal:8080\\" is not one of http.hosts: add it there.',
  )
  expect((await refusal({ host: 'x'.repeat(5_000) })).length).toBeLessThan(400)
  expect(await refusal({ host: 'parley.example.org', origin: 'https://evil.org"' })).toContain(
    'The page \\"https://evil.org\\\\\\"\\" is not one of http.origins',
  )
})

it('F-K04: a token in the address is refused, and opens nothing', async () => {
  const { ask, bearer } = await apiRig()
  const { headers } = await bearer(['operate:read'])
  const token = headers.authorization.slice('Bearer '.length)
  for (const path of [
    `/v1/status?token=${token}`,
    `/v1/status?access_token=x`,
    `/v1/${token}`,
    `/v1/%70ly_${token.slice(4)}`,
    `/v1/%2570ly_${token.slice(4)}`,
  ])
    expect((await ask(path, { headers })).status).toBe(400)
})

it('F-K06: no header that names another address is believed', async () => {
  const { ask } = await apiRig()
  const headers = { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1', 'x-real-ip': '127.0.0.1' }
  expect((await ask('/v1/status', { headers })).status).toBe(401)
})

it('F-K07: who brings many wrong tokens is told to wait, and whoever has a right one is not', async () => {
  const { ask, bearer, clock } = await apiRig()
  const { headers } = await bearer(['operate:read'])
  const wrong = { authorization: 'Bearer x' }
  const seen: (number | undefined)[] = []
  for (let at = 0; at < 25; at++) seen.push((await ask('/v1/status', { headers: wrong })).status)
  expect(seen).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
  expect((await ask('/v1/status', { headers })).status).toBe(200)
  clock.advance(60_000)
  expect((await ask('/v1/status', { headers: wrong })).status).toBe(401)
})

it('F-K05: a clock that is set back lengthens nobody’s wait after wrong tokens', async () => {
  const { ask, clock } = await apiRig()
  const wrong = { authorization: 'Bearer x' }
  for (let at = 0; at < 20; at++) await ask('/v1/status', { headers: wrong })
  clock.setBy(-3_600_000)
  const refused = await ask('/v1/status', { headers: wrong })
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
  clock.advance(60_000)
  expect((await ask('/v1/status', { headers: wrong })).status).toBe(401)
})

it('F-K07: one connection of a proxy may bring many tokens', async () => {
  const { bearer, port } = await apiRig()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const warnings: string[] = []
  const warned = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  for (let nth = 0; nth < 12; nth++) {
    const { headers } = await bearer(['operate:read'])
    const call = request({ host: '127.0.0.1', port, path: '/v1/status', headers, agent })
    call.end()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    expect(response.statusCode).toBe(200)
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(warnings).toEqual([])
})

it('F-K07: connections that never say who they are keep nobody out', async () => {
  const { ask, bearer, port } = await apiRig()
  const { headers } = await bearer(['operate:read'])
  const sockets = Array.from({ length: 400 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const made = sockets.map((socket) => once(socket, 'connect'))
  // The oldest make room for those that come.
  const dropped = sockets.slice(0, 100).map((socket) => once(socket, 'close'))
  await Promise.all(made)
  expect((await ask('/v1/status', { headers })).status).toBe(200)
  await Promise.all(dropped)
  expect(sockets.at(-1)?.destroyed).toBe(false)
})

it('F-H10: a token that expires or is revoked opens nothing from then on, and ends what it has open', async () => {
  const { tokens, clock } = await apiRig()
  const { token } = await tokens.operator.create({ namespace: 'api', days: 1 })
  const holder = await tokens.verify(token)
  expect(holder?.ended.aborted).toBe(false)
  clock.advance(86_400_000)
  expect(holder?.ended.aborted).toBe(true)
  expect(await tokens.verify(token)).toBeUndefined()
  const other = await tokens.operator.create({ namespace: 'api' })
  const open = await tokens.verify(other.token)
  await tokens.operator.revoke(other.id)
  expect(open?.ended.aborted).toBe(true)
})

it('F-K07: a token has so many requests a minute, and is told when it may ask again; others ask on', async () => {
  const { ask, bearer, clock } = await apiRig({}, { requestsPerMinute: 60 })
  const [greedy, other] = [await bearer(['operate:read']), await bearer(['operate:read'])]
  const statuses: unknown[] = []
  for (let nth = 0; nth < 62; nth++) statuses.push((await ask('/v1/status', { headers: greedy.headers })).status)
  expect(statuses).toEqual([...Array(60).fill(200), 429, 429])
  const refused = await ask('/v1/status', { headers: greedy.headers })
  expect(refused.headers).toMatchObject({ 'retry-after': '1' })
  expect((await ask('/v1/status', { headers: other.headers })).status).toBe(200)
  clock.advance(1_000)
  expect((await ask('/v1/status', { headers: greedy.headers })).status).toBe(200)
  expect((await ask('/v1/status', { headers: greedy.headers })).status).toBe(429)
})

it('F-K07: the connections of one token leave room for the others', async () => {
  const { ask, bearer, port } = await apiRig({ connections: 30 })
  const [greedy, other] = [await bearer(['operate:read', 'tokens']), await bearer(['operate:read'])]
  // It is known who asks once the headers are there; the body never comes.
  const asking = `POST /v1/tokens HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 9\r\n`
  const sockets = Array.from({ length: 10 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  for (const socket of sockets) socket.write(`${asking}Authorization: ${greedy.headers.authorization}\r\n\r\n{`)
  await vi.waitFor(async () => expect((await ask('/v1/status', { headers: greedy.headers })).status).toBe(429))
  expect((await ask('/v1/status', { headers: other.headers })).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
  await vi.waitFor(async () => expect((await ask('/v1/status', { headers: greedy.headers })).status).toBe(200))
})

it('F-K07: all tokens of namespaces together leave a third of the connections to the token of an owner', async () => {
  const { ask, bearer, port } = await apiRig({ connections: 30 })
  const owner = await bearer(['operate:read'])
  const tokens = await Promise.all(['a', 'b', 'c'].map((name) => bearer(['sessions:write'], name)))
  const asking = `POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 9\r\n`
  const sockets = tokens.flatMap(({ headers }) =>
    Array.from({ length: 10 }, () => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      socket.write(`${asking}Authorization: ${headers.authorization}\r\n\r\n{`)
      return socket
    }),
  )
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const refused = new Set<string>()
  for (const socket of sockets) socket.once('data', (data) => refused.add(String(data).slice(9, 12)))
  await vi.waitFor(() => expect([...refused]).toEqual(['429']))
  expect((await ask('/v1/status', { headers: owner.headers })).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
  // It is for something else, but it is let in.
  for (const { headers } of tokens)
    await vi.waitFor(async () => expect((await ask('/v1/status', { headers })).status).toBe(403))
})

it('F-K07: a connection that brings several tokens, as behind a proxy, counts for each until it is closed', async () => {
  const { ask, bearer, port } = await apiRig({ connections: 6 })
  const [first, second] = [await bearer(['operate:read']), await bearer(['operate:read'])]
  const sockets = Array.from({ length: 2 }, () => connect({ host: '127.0.0.1', port }))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  for (const socket of sockets)
    for (const { headers } of [first, second]) {
      socket.write(
        `GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${headers.authorization}\r\n\r\n`,
      )
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
    }
  const statuses = () =>
    Promise.all([first, second].map(async ({ headers }) => (await ask('/v1/status', { headers })).status))
  expect(await statuses()).toEqual([429, 429])
  for (const socket of sockets) socket.destroy()
  await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200]))
})
