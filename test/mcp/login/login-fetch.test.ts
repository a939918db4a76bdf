import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { loginFetch } from '../../../src/mcp/login/login-fetch.ts'
import { type Login, Logins } from '../../../src/mcp/login/logins.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { lockFile } from '../../../src/store/engines/sqlite-lock.ts'
import { localFolder } from '../../fakes/local-folder.ts'
import { watchedLock } from '../../fakes/watched-lock.ts'

const URL = 'https://tools.example/mcp'
const LOGIN: Login = {
  ...{ url: URL, issuer: 'https://login.example', metadata: {} },
  client: { client_id: 'parley', client_secret: 'client-canary' },
  tokens: { access_token: 'access-canary', refresh_token: 'refresh-canary' },
}

async function asking(answer: (logins: Logins) => Response, headers: Readonly<Record<string, string>> = {}) {
  const logins = new Logins(await localFolder(), systemClock, lockFile)
  logins.write('files', LOGIN)
  const sent: (string | null)[] = []
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    sent.push(new Headers(init?.headers).get('authorization'))
    return answer(logins)
  }
  const at = { kind: 'address', url: URL, headers } as const
  const ask = loginFetch('files', at, { clock: systemClock, logins, fetch, authFetch: fetch })
  return { sent, logins, ask: () => ask(URL, { headers }) }
}

test('C29: nothing that a login consists of comes back from its server', async () => {
  const { ask, sent } = await asking(() => new Response('access-canary refresh-canary client-canary'))
  expect(await (await ask()).text()).toBe('[secret] [secret] [secret]')
  expect(sent).toEqual(['Bearer access-canary'])
})

test('an answer streams: what has come of it is read before its end, with its status and its headers', async () => {
  const source = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': 'text/event-stream', 'content-length': '999' }
  const { ask } = await asking(() => new Response(source.readable, { status: 206, headers }))
  const answer = await ask()
  expect([answer.status, [...answer.headers]]).toEqual([206, [['content-type', 'text/event-stream']]])
  const reader = answer.body?.getReader()
  void source.writable.getWriter().write(new TextEncoder().encode('data: access-canary\n\n'))
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: [secret]\n\n')
  await reader?.cancel()
})

test('a server with a header of its own for that is asked with that one', async () => {
  const { ask, sent } = await asking(() => new Response('fine'), { Authorization: 'Bearer own' })
  await ask()
  expect(sent).toEqual(['Bearer own'])
})

test('a login that was given less than a call needs names the command to run', async () => {
  const headers = { 'www-authenticate': 'Bearer error="insufficient_scope"' }
  const { ask } = await asking(() => new Response('no', { status: 403, headers }))
  await expect(ask()).rejects.toThrow(/its login does not allow that\. Whoever runs Parley runs: .*mcp login files/)
  const { ask: refused } = await asking(() => new Response('no', { status: 403 }))
  expect((await refused()).status).toBe(403)
})

test('what a request was refused for is not kept if somebody has logged in since it was sent', async () => {
  const headers = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }
  const refusal = () => new Response('no', { status: 403, headers })
  const before = await asking(refusal)
  await expect(before.ask()).rejects.toThrow('does not allow that')
  expect(before.logins.wanted('files', URL)).toEqual({ kind: 'scope', scope: 'write' })
  const meanwhile = await asking((logins) => {
    logins.write('files', { ...LOGIN, tokens: { access_token: 'another' } })
    return refusal()
  })
  await expect(meanwhile.ask()).rejects.toThrow('does not allow that')
  expect(meanwhile.logins.wanted('files', URL)).toBeUndefined()
})

test('a login is renewed by one at a time, also where another process renews it', async () => {
  const folder = await localFolder()
  const [ended, order] = [deferred<void>(), [] as string[]]
  const { lock, refused } = watchedLock()
  const first = new Logins(folder, systemClock, lockFile).alone('files', async () => {
    await ended.promise
    order.push('first')
  })
  const second = new Logins(folder, systemClock, lock).alone('files', async () => order.push('second'))
  await refused
  ended.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
})

/** A login that has ended, and an authorization server that answers with `answer` whenever it is asked for another one. */
async function renewing(answer: () => Response) {
  const folder = await localFolder()
  const logins = new Logins(folder, systemClock, lockFile)
  logins.write('files', { ...LOGIN, expiresAt: 0 })
  const renewals: unknown[] = []
  const authFetch: typeof globalThis.fetch = async (_input, init) => {
    renewals.push(init?.body)
    return answer()
  }
  const fetch = async () => new Response('fine')
  const ask = loginFetch(
    'files',
    { kind: 'address', url: URL, headers: {} },
    { clock: systemClock, logins, fetch, authFetch },
  )
  return { folder, logins, renewals, ask: () => ask(URL, { method: 'POST' }) }
}

const GRANTED = { access_token: 'renewed', refresh_token: 'next', token_type: 'Bearer' }

test('nothing is renewed where it could not be kept: most servers take a token back that was renewed', async () => {
  const { folder, logins, renewals, ask } = await renewing(() => Response.json(GRANTED))
  const inTheWay = join(folder, 'mcp-logins', 'files.json.next')
  mkdirSync(inTheWay)
  await expect(ask()).rejects.toThrow(/^The disk takes no login: .*files\.json\.next/)
  expect(renewals).toEqual([])
  rmdirSync(inTheWay)
  expect(await (await ask()).text()).toBe('fine')
  expect(logins.read('files', URL)?.tokens).toEqual({ access_token: 'renewed', refresh_token: 'next' })
})

test('a login that ends before its server is asked is wanted again', async () => {
  const { logins, ask } = await renewing(() => Response.json({ error: 'invalid_grant' }, { status: 400 }))
  await expect(ask()).rejects.toThrow('its login has ended')
  expect(logins.wanted('files', URL)).toEqual({ kind: 'login' })
})
