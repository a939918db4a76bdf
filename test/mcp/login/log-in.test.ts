import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createConnection } from '../../../src/mcp/connection.ts'
import { isExempt } from '../../../src/mcp/login/challenge.ts'
import { loginFetch } from '../../../src/mcp/login/login-fetch.ts'
import { Logins } from '../../../src/mcp/login/logins.ts'
import { lockFile } from '../../../src/store/engines/sqlite-lock.ts'
import { createDoor } from '../../../src/web/door.ts'
import { doorFetch } from '../../../src/web/door-fetch.ts'
import { AwaitedLog } from '../../e2e/awaited-log.ts'
import { type LoginServer, metadataOf, startLoginServer } from '../../fakes/login-server.ts'
import { loginWorld } from '../../fakes/login-world.ts'
import { watchedLock } from '../../fakes/watched-lock.ts'

const never = new AbortController().signal

/** A process that takes the lock of a file, with the driver of the Node that runs, and says so. */
const HOLDER = `
  const Database = require(Number(process.versions.napi) < 10 ? 'better-sqlite3-12' : 'better-sqlite3')
  const lock = new Database(process.argv[1])
  lock.exec('BEGIN EXCLUSIVE')
  console.log('held')
  setInterval(() => lock, 1_000)`

describe('a login at a tool server', () => {
  it('is made with a browser here, kept for the owner of the folder alone, and used', async () => {
    const server = await startLoginServer()
    const { login, connect, file, opened } = await loginWorld(server)
    expect(await login()).toEqual({ scopes: ['read'], missing: [] })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const asked = new URL(opened[0] ?? '').searchParams
    expect([asked.get('code_challenge_method'), asked.get('resource'), asked.get('scope')]).toEqual([
      'S256',
      server.url,
      'read',
    ])
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    expect(await connect().call('who', {}, { signal: never })).toMatchObject({ content: [{ text: 'ada' }] })
  })

  it('is made by pasting the address of a browser elsewhere, and by nothing else', async () => {
    const server = await startLoginServer()
    const { login, connect } = await loginWorld(server)
    let arrived: (line: string) => void = () => undefined
    const line = new Promise<string>((resolve) => {
      arrived = resolve
    })
    let wrong = 0
    async function* pasted() {
      yield 'yes?'
      yield 'http://127.0.0.1:1/callback?code=stolen&state=another'
      yield await line
    }
    await login(arrived, { pasted: pasted(), wrong: () => wrong++ })
    expect(wrong).toBe(2)
    expect((await connect().list()).tools).toHaveLength(1)
  })

  it('takes no answer that does not carry its state', async () => {
    const server = await startLoginServer()
    const { login } = await loginWorld(server)
    const seen: number[] = []
    await login(async (to) => {
      for (const other of ['/callback?code=stolen&state=other', '/callback?code=stolen', '/callback', '/'])
        seen.push((await fetch(new URL(other, to))).status)
      seen.push((await fetch(`${new URL(to).origin}//`)).status)
      const posted = await fetch(to, { method: 'POST' })
      const page = await fetch(to)
      seen.push(posted.status, page.status)
      expect(await page.text()).not.toContain('code')
    })
    expect(seen).toEqual([400, 400, 400, 404, 404, 404, 200])
  })

  it('that somebody refuses says so, and keeps nothing', async () => {
    const server = await startLoginServer()
    const { login, logins } = await loginWorld(server)
    const refuse = (to: string) => {
      const back = new URL(to)
      back.searchParams.delete('code')
      back.searchParams.set('error', 'access_denied')
      return fetch(back)
    }
    await expect(login(refuse)).rejects.toThrow('The login was refused: access_denied.')
    expect(logins.read('files', server.url)).toBeUndefined()
  })

  it('answered in the name of another authorization server is not finished', async () => {
    const server = await startLoginServer()
    const { login } = await loginWorld(server)
    await expect(login((to) => fetch(`${to}&iss=https://evil.example`))).rejects.toThrow(/Another authorization server/)
    expect(server.requests).not.toContain('POST /token')
  })

  it('uses what Parley is registered as, and says so where that is needed', async () => {
    const server = await startLoginServer({ registered: 'parley' })
    const { login } = await loginWorld(server, { login: { clientId: 'parley', scopes: ['write'] } })
    expect(await login()).toEqual({ scopes: ['read'], missing: ['write'] })
    const other = await loginWorld(server)
    await expect(other.login()).rejects.toThrow(/Register Parley there and set oauth.clientId/)
  })

  it('is said to be needed where there is none, once in the log', async () => {
    const server = await startLoginServer()
    const { connect, log } = await loginWorld(server)
    await expect(connect().list()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('it asks for a login. Whoever runs Parley runs: parley mcp login files'),
    })
    expect(log.lines.filter(({ sentence }) => sentence === 'A tool server cannot be reached')).toHaveLength(1)
  })

  it('is asked for again a second later, however often nobody was logged in: a login may be made at any time', async () => {
    const server = await startLoginServer()
    let elapsed = 0
    const { login, connect } = await loginWorld(server, {}, { ...systemClock, elapsed: () => elapsed })
    const one = connect()
    for (const _try of [1, 2, 3, 4, 5]) {
      await expect(one.list()).rejects.toThrow('parley mcp login files')
      elapsed += 1_000
    }
    await login()
    expect((await one.list()).tools).toHaveLength(1)
  })

  it('belongs to the address it was made for', async () => {
    const server = await startLoginServer()
    const { login, logins } = await loginWorld(server)
    await login()
    expect(logins.read('files', `${server.origin}/other`)).toBeUndefined()
    expect(logins.read('other', server.url)).toBeUndefined()
  })

  it('ends with mcp logout, here and at its server', async () => {
    const server = await startLoginServer()
    const { login, logout, connect } = await loginWorld(server)
    await login()
    const one = connect()
    await one.list()
    expect(await logout()).toBe('revoked')
    await expect(one.call('who', {}, { signal: never })).rejects.toThrow('parley mcp login files')
    expect(await logout()).toBe('none')
  })
})

describe('a token that has ended', () => {
  it('is renewed once, however many calls find it so, in however many processes', async () => {
    const server = await startLoginServer()
    const { login, connect, folder, at } = await loginWorld(server)
    await login()
    const one = connect()
    await one.list()
    server.expire()
    // The other process has nothing in common with this one but the file.
    const logins = new Logins(folder, systemClock, lockFile)
    const fetch = doorFetch(createDoor({ clock: systemClock }).open)
    const authFetch = doorFetch(createDoor({ clock: systemClock }).ask)
    const fetchOf = () => loginFetch('files', at, { clock: systemClock, logins, fetch, authFetch })
    const two = createConnection(
      { name: 'files', at, inside: [], timeoutMs: 20_000 },
      { clock: systemClock, logger: new AwaitedLog(), fetchOf, version: '1' },
    )
    onTestFinished(() => two.close())
    const calls = [one, two, one, two, one, two].map((each) => each.call('who', {}, { signal: never }))
    expect(await Promise.all(calls)).toHaveLength(6)
    expect(server.refreshed).toHaveLength(1)
    server.expire()
    await one.call('who', {}, { signal: never })
    expect(new Set(server.refreshed).size).toBe(2)
  })

  it('is renewed before it is refused where its end is known', async () => {
    const server = await startLoginServer({ expiresIn: 10 })
    const { login, connect } = await loginWorld(server)
    await login()
    await connect().list()
    expect(server.refreshed.length).toBeGreaterThan(0)
    expect(server.requests.filter((one) => one === 'POST /mcp').length).toBeGreaterThan(2)
  })

  it('and cannot be renewed ends the login, with the command to run, and the server is not asked again', async () => {
    const server = await startLoginServer()
    const { login, logins, connect, file } = await loginWorld(server)
    await login()
    const one = connect()
    await one.list()
    server.revoke()
    const words = /its login has ended\. Whoever runs Parley runs: parley mcp login files/
    await expect(one.call('who', {}, { signal: never })).rejects.toThrow(words)
    await expect(one.call('who', {}, { signal: never })).rejects.toThrow(words)
    expect(server.refreshed).toHaveLength(1)
    expect(readFileSync(file, 'utf8')).not.toContain('access-')
    expect(logins.wanted('files', server.url)).toEqual({ kind: 'login', scope: 'read' })
  })

  it('waits for a process that renews it, and for none that was killed at it', async () => {
    const server = await startLoginServer()
    const { lock, refused } = watchedLock()
    const { login, connect, folder } = await loginWorld(server, {}, systemClock, lock)
    await login()
    server.expire()
    const holder = spawn(process.execPath, ['-e', HOLDER, join(folder, 'mcp-logins', 'files.lock')])
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    const listed = connect().list()
    await refused
    expect(server.refreshed).toHaveLength(0)
    holder.kill('SIGKILL')
    await listed
    expect(server.refreshed).toHaveLength(1)
  })

  it('takes its place behind a renewal of the one before that runs meanwhile', async () => {
    const server = await startLoginServer()
    const { lock, refused } = watchedLock()
    const { login, logins, folder } = await loginWorld(server, {}, systemClock, lock)
    await login()
    const before = logins.read('files', server.url)
    if (before === undefined) throw new Error('no login')
    const renewing = new Logins(folder, systemClock, lockFile)
    const renewal = renewing.alone('files', async () => {
      await refused
      renewing.write('files', before)
    })
    await Promise.all([login(), renewal])
    expect(logins.read('files', server.url)?.tokens?.access_token).not.toBe(before.tokens?.access_token)
  })

  it('is kept where its authorization server is out of order', async () => {
    const server = await startLoginServer()
    const down = await startLoginServer({ token: () => ({ status: 503, body: 'later' }) })
    const { login, logins, connect } = await loginWorld(server)
    await login()
    const kept = logins.read('files', server.url)
    if (kept === undefined) throw new Error('no login')
    logins.write('files', { ...kept, metadata: metadataOf(down.origin), expiresAt: 0 })
    await expect(connect().list()).rejects.toThrow(
      /describes no login in a form|does not renew its login \(\w+\)\. If it stays so, whoever runs Parley runs: parley mcp login files/,
    )
    logins.write('files', { ...kept, expiresAt: 0 })
    expect((await connect().list()).tools).toHaveLength(1)
  })
})

describe('the secrets of a login', () => {
  it('C29: are in no log, no result and no error, whatever servers repeat', async () => {
    const server = await startLoginServer({ says: (authorization) => `you sent ${authorization}` })
    const { login, connect, log } = await loginWorld(server)
    const scopes = await login()
    const one = connect()
    const shown = [scopes, await one.call('who', {}, { signal: never })]
    server.revoke()
    shown.push(await one.call('who', {}, { signal: never }).catch((error: unknown) => String(error)))
    const all = JSON.stringify([shown, log.lines])
    expect(all).toContain('[secret]')
    expect([...server.secrets].filter((secret) => all.includes(secret))).toEqual([])
  })
})

describe('C34: a server that names a place for its login', () => {
  const METADATA_ADDRESS = 'http://169.254.169.254/latest'
  const both = (origin: string, more: object) => ({ body: { ...metadataOf(origin), ...more } })

  it.each<[string, Parameters<typeof startLoginServer>[0], RegExp]>([
    [
      'by a redirect into the machine’s network',
      { resource: () => ({ location: METADATA_ADDRESS }) },
      /not on the public net|which is not followed/,
    ],
    [
      'on the machine’s network',
      { resource: (origin) => ({ body: { resource: `${origin}/mcp`, authorization_servers: [METADATA_ADDRESS] } }) },
      /not protected by TLS/,
    ],
    [
      'with TLS on a private address',
      { resource: (origin) => ({ body: { resource: `${origin}/mcp`, authorization_servers: ['https://10.0.0.1'] } }) },
      /not on the public net/,
    ],
    [
      'by a challenge, without TLS',
      { refusal: () => ({ challenge: 'Bearer resource_metadata="http://example.org/described"' }) },
      /not protected by TLS/,
    ],
    [
      'by a challenge, in the network',
      { refusal: () => ({ challenge: 'Bearer resource_metadata="https://10.0.0.1/described"' }) },
      /not on the public net/,
    ],
    ['that redirects into the network', { metadata: () => ({ location: METADATA_ADDRESS }) }, /which is not followed/],
    [
      'for another server',
      { resource: (origin) => ({ body: { resource: 'https://bank.example/', authorization_servers: [origin] } }) },
      /which is another one/,
    ],
    [
      'that speaks for another issuer',
      { metadata: (origin) => both(origin, { issuer: 'https://accounts.example' }) },
      /another issuer/,
    ],
    [
      'with an endpoint that is no web address',
      { metadata: (origin) => both(origin, { authorization_endpoint: 'javascript:alert(1)' }) },
      /describes no login in a form that can be read/,
    ],
    [
      'with an endpoint without TLS',
      { metadata: (origin) => both(origin, { token_endpoint: 'http://example.org/token' }) },
      /not protected by TLS/,
    ],
    [
      'with an endpoint for its end without TLS',
      { metadata: (origin) => both(origin, { revocation_endpoint: 'http://example.org/revoke' }) },
      /not protected by TLS/,
    ],
    [
      'with a token endpoint in the network',
      { metadata: (origin) => both(origin, { token_endpoint: 'https://192.168.0.1/token' }) },
      /not on the public net/,
    ],
    ['of a gigabyte', { metadata: () => ({ body: 'x'.repeat(2_000_000) }) }, /too long/],
    ['that is no description', { metadata: () => ({ body: [7] }) }, /describes no login in a form that can be read/],
    [
      'and says nothing of it, nor registers anybody',
      { bare: true, registered: 'parley' },
      /does not say how one logs in/,
    ],
    [
      'without the proof that is needed',
      { metadata: (origin) => both(origin, { code_challenge_methods_supported: ['plain'] }) },
      /describes no login in a form that can be read/,
    ],
    [
      'that gives a token with a line break',
      { token: () => ({ body: { access_token: 'canary\nx', token_type: 'Bearer' } }) },
      /no request can carry/,
    ],
    [
      'that gives a token to renew with, of other letters',
      { token: () => ({ body: { access_token: 'good', refresh_token: 'canary é', token_type: 'Bearer' } }) },
      /no request can carry/,
    ],
    [
      'that gives no token',
      { token: () => ({ body: { hello: 'canary' } }) },
      /describes no login in a form that can be read/,
    ],
  ])('%s is refused, and nothing is kept', async (_how, quirks, words) => {
    const server = await startLoginServer(quirks)
    const { login, logins } = await loginWorld(server)
    await expect(login()).rejects.toThrow(words)
    await expect(login()).rejects.not.toThrow(/canary/)
    expect(logins.read('files', server.url)).toBeUndefined()
  })

  it('without a login is told that none is needed', async () => {
    const { login } = await loginWorld(await openServer())
    await expect(login()).rejects.toThrow('none is needed')
  })

  it('is exempt on this machine alone, for a server on this machine', () => {
    const exempt = (server: string, url: string) => isExempt(server, new URL(url))
    expect(exempt('http://127.0.0.1:1/mcp', 'http://localhost:2/token')).toBe(true)
    expect(exempt('https://10.0.0.1/mcp', 'https://10.0.0.1/token')).toBe(true)
    expect(exempt('https://10.0.0.1/mcp', 'https://10.0.0.1:444/token')).toBe(false)
    expect(exempt('https://10.0.0.1/mcp', 'http://127.0.0.1/token')).toBe(false)
    expect(exempt('http://127.0.0.1:1/mcp', 'http://10.0.0.1/token')).toBe(false)
    expect(exempt('http://127.0.0.1:1/mcp', 'http://127.0.0.1.evil.example/')).toBe(false)
  })
})

async function openServer(): Promise<LoginServer> {
  const server = await startLoginServer()
  const { createServer } = await import('node:http')
  const open = createServer((_request, response) => response.writeHead(200).end('{}'))
  await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void open.close())
  const address = open.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { ...server, url: `http://127.0.0.1:${address.port}/mcp`, visit: async () => '' }
}
