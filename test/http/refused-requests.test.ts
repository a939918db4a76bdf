import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { SCOPES } from '../../src/core/token.ts'
import { type ApiHouse, startApiHouse } from '../e2e/api-house.ts'
import { raw, rawBytes, statusesOf, torn } from './raw-socket.ts'
import { storeDigest } from './store-digest.ts'

async function start(): Promise<{ readonly house: ApiHouse; readonly owner: { readonly authorization: string } }> {
  const house = await startApiHouse()
  await house.daemon.operator.sessions.post('api:desk', { text: 'hello' })
  return { house, owner: (await house.bearer({ owner: true, scopes: SCOPES })).headers }
}

const BODY = '{"title":"x"}'
const RENAME = '/v1/sessions/api%3Adesk/name'

it('F-K06, F-K07: no request is smuggled behind another, and nothing of it is stored', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const auth = `Authorization: ${owner.authorization}`
  const host = `Host: 127.0.0.1:${house.port()}`
  const post = `POST ${RENAME} HTTP/1.1`
  const hidden = [`DELETE /v1/sessions/api%3Adesk HTTP/1.1`, host, auth, '', ''].join('\r\n')
  const chunked = 'Transfer-Encoding: chunked'
  const end = 'Connection: close'
  const cases: Readonly<Record<string, readonly string[]>> = {
    'CL.TE': [post, host, auth, 'Content-Length: 6', chunked, '', '0', '', hidden],
    'TE.CL': [post, host, auth, chunked, 'Content-Length: 3', '', '1', 'x', '0', '', hidden],
    'TE.TE': [post, host, auth, chunked, 'Transfer-Encoding: identity', end, '', '0', '', hidden],
    'two lengths': [post, host, auth, 'Content-Length: 0', `Content-Length: ${hidden.length}`, '', hidden],
    'a list of lengths': [post, host, auth, 'Content-Length: 0, 5', '', hidden],
    'a signed length': [post, host, auth, 'Content-Length: +0', '', hidden],
    'a folded header': [post, host, auth, 'X: a', ' Transfer-Encoding: chunked', 'Content-Length: 0', end, '', ''],
    'a space before the colon': [post, host, auth, 'Transfer-Encoding : chunked', 'Content-Length: 0', '', hidden],
    'a bad chunk': [post, host, auth, chunked, '', 'zz', 'x', '0', '', hidden],
    'a chunk that is longer than it says': [post, host, auth, chunked, '', '1', 'xyz', '0', '', hidden],
    'a bare line feed': [`${post}\n${host}\n${auth}\nContent-Length: 0\n\n${hidden}`],
    'a header of control characters': [post, host, auth, 'X: a\u0000b', 'Content-Length: 0', '', hidden],
    'two hosts': [post, host, 'Host: evil.org', auth, `Content-Length: ${BODY.length}`, end, '', BODY],
    'no host': [post, auth, `Content-Length: ${BODY.length}`, end, '', BODY],
    'an address for a path': [`POST http://evil.org${RENAME} HTTP/1.1`, host, auth, 'Content-Length: 2', end, '', '{}'],
    'a tunnel': [`CONNECT 127.0.0.1:${house.port()} HTTP/1.1`, host, auth, '', ''],
    'an upgrade': [
      `GET /v1/status HTTP/1.1`,
      'Host: evil.org',
      auth,
      'Connection: Upgrade',
      'Upgrade: websocket',
      '',
      '',
    ],
  }
  const told = await Promise.all(
    Object.entries(cases).map(async ([name, lines]) => [name, statusesOf(await raw(house.port(), ...lines))] as const),
  )
  for (const [name, statuses] of told)
    expect([name, statuses.filter((status) => status.startsWith('2'))]).toEqual([name, []])
  expect(storeDigest(house.config.store.path)).toEqual(before)
  expect((await house.ask('/v1/sessions/api:desk', { headers: owner })).status).toBe(200)
})

const deep = (count: number, open: string, close: string): string => `${open.repeat(count)}1${close.repeat(count)}`

it('F-K07, F-A01: what is no body of a route is refused by the name of its field, and nothing is stored', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const bodies: readonly (readonly [string, string, string])[] = [
    ['', 'JSON object', RENAME],
    ['{', 'JSON object', RENAME],
    ['[]', 'JSON object', RENAME],
    ['"x"', 'JSON object', RENAME],
    ['null', 'JSON object', RENAME],
    ['{"title":1}', 'title', RENAME],
    ['{"title":"x","text":"y"}', '"text" is not known', RENAME],
    ['{"title":{"toString":1}}', 'title', RENAME],
    ['{"title":""}', 'title', RENAME],
    [`{"title":"${'x'.repeat(81)}"}`, '80 characters', RENAME],
    ['{"__proto__":{"title":"x"}}', 'title', RENAME],
    ['{"constructor":{"prototype":{"title":"x"}}}', 'title', RENAME],
    ['{"namespace":"web","__proto__":{"owner":true},"x":1}', '', '/v1/tokens'],
    ['{"owner":"yes"}', 'owner', '/v1/tokens'],
    ['{"namespace":"web","once":"x"}', 'once', '/v1/tokens'],
    ['{"text":"x","once":"x"}', 'once', '/v1/sessions/api%3Adesk/messages'],
    ['{"text":"x","waitSeconds":"1"}', 'waitSeconds', '/v1/sessions/api%3Adesk/messages'],
    ['{"text":"x","waitSeconds":1e309}', 'waitSeconds', '/v1/sessions/api%3Adesk/messages'],
    ['{"text":"x","context":{"a":1}}', 'context', '/v1/sessions/api%3Adesk/messages'],
    ['{"name":["api:x"]}', 'name', '/v1/sessions'],
    ['\ufeff', 'empty', RENAME],
  ]
  for (const [body, named, path] of bodies) {
    const { status, json } = await house.ask(path, { method: 'POST', headers: owner, body })
    expect([body.slice(0, 40), status]).toEqual([body.slice(0, 40), 400])
    expect(json).toEqual({ error: { code: 'invalid', message: expect.stringContaining(named) } })
  }
  for (const body of [deep(100_000, '[', ']'), deep(100_000, '{"a":', '}')]) {
    const { status, json } = await house.ask(RENAME, { method: 'POST', headers: owner, body })
    expect(status).toBe(400)
    expect(json).toEqual({ error: { code: 'invalid', message: expect.stringContaining('levels') } })
  }
  for (const { path, named } of [
    { path: '/v1/sessions?limit=x', named: 'limit' },
    { path: '/v1/sessions?limit=0', named: 'limit' },
    { path: '/v1/sessions?limit=1&limit=1', named: '\\"limit\\" may be given only once' },
    { path: '/v1/memory?words=a&words=b', named: '\\"words\\" may be given only once' },
    { path: '/v1/sessions?limits=1', named: '\\"limits\\" is not known here' },
    { path: '/v1/status?verbose', named: '\\"verbose\\" is not known here' },
    { path: '/v1/status?__proto__=1', named: '__proto__' },
    { path: '/v1/sessions?cursor=x', named: 'cursor' },
    { path: '/v1/sessions?cursor=%ff', named: 'cursor' },
    { path: '/v1/sessions/api:desk%0a', named: 'name' },
    { path: '/v1/sessions/%20api:desk', named: 'name' },
    { path: '/v1/sessions?offset=-1', named: 'offset' },
    { path: '/v1/sessions?inactive=maybe', named: 'inactive' },
    { path: '/v1/sessions/api:desk/history?before=1e3', named: 'before' },
    { path: '/v1/memory/x', named: 'no' },
    { path: '/v1/why', named: 'message' },
  ]) {
    const { status, text } = await house.ask(path, { headers: owner })
    expect([path, status, text]).toEqual([path, 400, expect.stringContaining(named)])
  }
  for (const name of ['api:__proto__', 'api:', 'api:%C3%9C', `api:${'x'.repeat(101)}`, 'web:UP']) {
    const asked = { method: 'POST', headers: owner, body: '{"text":"hi"}' }
    const { status, text } = await house.ask(`/v1/sessions/${name}/messages`, asked)
    expect([name, status, text]).toEqual([name, 400, expect.stringContaining('name')])
  }
  expect((await house.ask('/v1/sessions/api:desk%0a', { method: 'DELETE', headers: owner })).status).toBe(400)
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K07: what is no HTTP, or no whole request, is refused in the words of the API', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const host = `Host: 127.0.0.1:${house.port()}`
  const auth = `Authorization: ${owner.authorization}`
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['400', 'invalid', ['hello', '', '']],
    ['400', 'invalid', ['GET /v1/status HTTP/3.7', host, '', '']],
    ['400', 'invalid', ['GET /v1/status HTTP/1.1', 'Connection: close', auth, '', '']],
    ['400', 'invalid', ['GET /v1/status HTTP/1.1', 'Host: a b', 'Connection: close', auth, '', '']],
    ['400', 'invalid', ['GET /v1\\status HTTP/1.1', host, 'Connection: close', auth, '', '']],
    ['400', 'invalid', ['GET http:// HTTP/1.1', host, 'Connection: close', auth, '', '']],
    ['417', 'invalid', ['GET /v1/status HTTP/1.1', host, auth, 'Expect: tea', 'Connection: close', '', '']],
    ['431', 'too_long', ['GET /v1/status HTTP/1.1', host, `X: ${'x'.repeat(20_000)}`, '', '']],
    ['431', 'too_long', [`GET /${'x'.repeat(20_000)} HTTP/1.1`, host, '', '']],
    ['400', 'invalid', [`POST ${RENAME} HTTP/1.1`, host, auth, 'Transfer-Encoding: chunked', '', 'zz', '']],
  ]
  for (const [status, code, lines] of cases) {
    const told = await raw(house.port(), ...lines)
    const [head = '', body = ''] = told.split('\r\n\r\n')
    expect([lines[0], statusesOf(told), head]).toEqual([
      ...[lines[0], [status]],
      expect.stringMatching(/content-type: application\/json/i),
    ])
    expect(JSON.parse(body.replace(/^[0-9a-f]+\r\n|\r\n0$/g, ''))).toEqual({
      error: { code, message: expect.stringMatching(/.{20}/) },
    })
  }
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('what is no HTTP behind a request whose answer is under way is not told within that answer', async () => {
  const { house, owner } = await start()
  const head = ['GET /v1/events HTTP/1.1', `Host: 127.0.0.1:${house.port()}`, `Authorization: ${owner.authorization}`]
  const socket = connect({ host: '127.0.0.1', port: house.port() })
  let told = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (told += piece))
  socket.write([...head, '', ''].join('\r\n'))
  await expect.poll(() => told).toContain('event: start')
  socket.write('tea\r\n\r\n')
  await once(socket, 'close')
  expect(statusesOf(told)).toEqual(['200'])
  expect(told).not.toContain('error')
})

it('F-K06: what is no HTTP is no answer to a request before it, nor a piece of one', async () => {
  const { house, owner } = await start()
  const head = [`Host: 127.0.0.1:${house.port()}`, `Authorization: ${owner.authorization}`]
  const rename = [`POST ${RENAME} HTTP/1.1`, ...head, `Content-Length: ${BODY.length}`, '', BODY].join('\r\n')
  expect(await raw(house.port(), `${rename}tea`, '', '')).not.toContain('This is no HTTP')
  const get = (path: string) => [`GET ${path} HTTP/1.1`, ...head, '', ''].join('\r\n')
  const socket = connect({ host: '127.0.0.1', port: house.port() })
  let told = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (told += piece))
  socket.write(get('/v1/events'))
  await expect.poll(() => told).toContain('event: start')
  socket.write(`${get('/v1/status')}tea\r\n\r\n`)
  await once(socket, 'close')
  expect(statusesOf(told)).toEqual(['200'])
  expect(told).not.toContain('This is no HTTP')
})

it('F-K07: a JSON object counts as one whatever type its header names, and its characters are Unicode', async () => {
  const { house, owner } = await start()
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    '\u00e9',
  ]) {
    const headers = { ...owner, 'content-type': type }
    const { status } = await house.ask(RENAME, { method: 'POST', headers, body: '{"title":"Sch\u00f6n"}' })
    expect([type, status]).toEqual([type, 200])
  }
  expect(await house.daemon.operator.sessions.show('api:desk')).toMatchObject({ description: 'Sch\u00f6n' })
})

it('F-H09: a name is one name however it is spelled, and no path leads out of its route', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const { headers } = await house.bearer({ namespace: 'api', scopes: ['sessions:read', 'sessions:write'] })
  for (const path of [
    '/v1/sessions/../status',
    '/v1/sessions/%2e%2e/status',
    '/v1/sessions/..%2fstatus',
    '/v1/sessions/api%3Adesk%2F..%2F..%2Fstatus',
    '/v1/sessions/api%253Adesk',
    '/v1/sessions/api%3Adesk%00',
    '/v1/sessions/%c0%ae%c0%ae',
    '/v1/sessions/%',
    '/v1/sessions//api%3Adesk',
    '//v1/sessions/api%3Adesk',
    '/v1/sessions/api%3Adesk/',
    '/V1/sessions/api%3Adesk',
    '/v1/sessions/api:desk;x=1',
  ]) {
    const { status } = await house.ask(path, { headers })
    expect([path, [400, 403, 404].includes(status)]).toEqual([path, true])
  }
  expect((await house.ask('/v1/sessions/api:desk', { headers: owner })).status).toBe(200)
  expect((await house.ask('/v1/sessions/api%3adesk', { headers })).status).toBe(200)
  expect(storeDigest(house.config.store.path)).toEqual({ ...before, tokens: expect.any(String) })
})

it('F-K07: a body that is compressed, or in another encoding, is refused in words, and nothing is stored', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const packed = await house.ask(RENAME, { headers: { ...owner, 'content-encoding': 'gzip' }, body: BODY })
  expect(packed).toMatchObject({ status: 400, text: expect.stringContaining('Content-Encoding') })
  const post = [`POST ${RENAME} HTTP/1.1`, `Host: 127.0.0.1:${house.port()}`, `Authorization: ${owner.authorization}`]
  const latin = Buffer.from('{"title":"Sch\u00f6n"}', 'latin1')
  const told = await rawBytes(house.port(), [...post, 'Connection: close', `Content-Length: ${latin.length}`], latin)
  expect(told).toContain('UTF-8')
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K07: a body that breaks off counts for nothing, however much of it makes sense', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const head = [`POST ${RENAME} HTTP/1.1`, `Host: 127.0.0.1:${house.port()}`, `Authorization: ${owner.authorization}`]
  for (const further of [[], ['Idempotency-Key: torn']]) {
    await torn(house.port(), ...head, ...further, `Content-Length: ${BODY.length + 9}`, '', BODY)
    const chunk = `${BODY.length.toString(16)}\r\n${BODY}\r\n`
    await torn(house.port(), ...head, ...further, 'Transfer-Encoding: chunked', '', chunk)
  }
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-G03: a body of 100 MB is refused before it is read, and so is one in chunks once it is too long', async () => {
  const { house, owner } = await start()
  const before = storeDigest(house.config.store.path)
  const head = [`POST ${RENAME} HTTP/1.1`, `Host: 127.0.0.1:${house.port()}`, `Authorization: ${owner.authorization}`]
  const told = await raw(house.port(), ...head, `Content-Length: ${100 * 1024 * 1024}`, '', 'x'.repeat(1_000))
  expect(statusesOf(told)).toEqual(['413'])
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  const grown = await raw(house.port(), ...head, 'Transfer-Encoding: chunked', '', chunk.repeat(40))
  expect(statusesOf(grown)).toEqual(['413'])
  const keyed = await raw(
    house.port(),
    ...head,
    'Idempotency-Key: k',
    'Transfer-Encoding: chunked',
    '',
    chunk.repeat(40),
  )
  expect(statusesOf(keyed)).toEqual(['413'])
  expect(storeDigest(house.config.store.path)).toEqual(before)
})
