import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Login } from '../../../src/mcp/login/logins.ts'
import { startLoginServer } from '../../fakes/login-server.ts'
import { loginWorld } from '../../fakes/login-world.ts'

const running = { signal: new AbortController().signal }
const LOGIN = 'Whoever runs Parley runs: parley mcp login files'

describe('a server that asks for a login at a call alone', () => {
  it('T40: has its tools listed, says whom to ask at the call, and is used by the running daemon after the login', async () => {
    const server = await startLoginServer({ asksAt: 'tools/call' })
    const { login, connect } = await loginWorld(server)
    const one = connect()
    expect((await one.list()).tools).toHaveLength(1)
    await expect(one.call('who', {}, running)).rejects.toThrow(`files: it asks for a login. ${LOGIN}`)
    expect(one.state().status).toBe('up')
    expect((await login()).scopes).toEqual(['read'])
    expect(await one.call('who', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  })

  it('is asked for the scope of the call that it refused, which is kept for the owner of the folder alone', async () => {
    const refusal = (origin: string) => ({
      challenge: `Basic realm="x", scope="no", Bearer realm="y", scope="${origin}/mail  write", Resource_Metadata = '/described'`,
    })
    const at = {
      '/described': (origin: string) => ({ body: { resource: `${origin}/mcp/`, authorization_servers: [origin] } }),
    }
    const server = await startLoginServer({ asksAt: 'tools/call', refusal, at })
    const { login, connect, logins, folder, opened } = await loginWorld(server)
    await expect(connect().call('who', {}, running)).rejects.toThrow(LOGIN)
    const file = join(folder, 'mcp-logins', 'files.wanted')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(logins.wanted('files', `${server.origin}/other`)).toBeUndefined()
    const asked = server.methods.length
    await login()
    const { searchParams } = new URL(opened[0] ?? '')
    expect([searchParams.get('scope'), searchParams.get('resource')]).toEqual([
      `${server.origin}/mail write`,
      `${server.origin}/mcp/`,
    ])
    // The challenge says it all: the server was not asked again.
    expect(server.methods.slice(asked)).toEqual([])
    expect(existsSync(file)).toBe(false)
  })

  it.each(['tools/list', 'tools/call'] as const)('is found to ask at %s where no call has met it', async (asksAt) => {
    const server = await startLoginServer({ asksAt })
    const { login } = await loginWorld(server)
    expect((await login()).scopes).toEqual(['read'])
    const order = ['initialize', 'notifications/initialized', 'tools/list', 'tools/call']
    expect(server.methods).toEqual(order.slice(0, order.indexOf(asksAt) + 1))
  })

  it('is found by its description alone where it refuses no tool that it does not have', async () => {
    const server = await startLoginServer({ asksAt: 'tools/call', refusal: () => ({ status: 200, body: {} }) })
    expect((await (await loginWorld(server)).login()).scopes).toEqual(['read'])
  })

  it('is logged in at again when its login has ended', async () => {
    const server = await startLoginServer({ asksAt: 'tools/call' })
    const { login, connect } = await loginWorld(server)
    await login()
    server.revoke()
    const one = connect()
    await expect(one.list()).resolves.toMatchObject({ tools: [{ name: 'who' }] })
    await expect(one.call('who', {}, running)).rejects.toThrow(`its login has ended. ${LOGIN}`)
    await login()
    expect(await one.call('who', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  })

  it('is logged in at again though it refuses nothing and describes nothing, if there was a login before', async () => {
    const at = { '/.well-known/oauth-protected-resource/mcp': () => ({ status: 404 }) }
    const server = await startLoginServer({ asksAt: 'nothing', at })
    const { login, logins } = await loginWorld(server)
    await expect(login()).rejects.toThrow('none is needed')
    const before = { url: server.url, issuer: server.origin, metadata: {}, client: { client_id: 'parley' } }
    await logins.alone('files', async () => {
      logins.reserve('files')
      logins.write('files', before)
    })
    expect((await login()).scopes).toEqual(['read'])
  })
})

describe('a call that needs a further scope', () => {
  const needs = { delete: 'write' }

  it('T40: says whom to ask; the login then asks for it beside the scopes before', async () => {
    const server = await startLoginServer({ needs, grants: ['read', 'write'] })
    const { login, connect, opened } = await loginWorld(server)
    await login()
    const one = connect()
    await one.call('who', {}, running)
    await expect(one.call('delete', {}, running)).rejects.toThrow(`its login does not allow that. ${LOGIN}`)
    expect(await login()).toEqual({ scopes: ['read', 'write'], missing: [] })
    expect(opened.map((open) => new URL(open).searchParams.get('scope'))).toEqual(['read', 'read write'])
    expect(await one.call('delete', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  })

  it('is asked for beside what a login of an earlier version was granted', async () => {
    const server = await startLoginServer({ needs, grants: ['read', 'write'] })
    const { login, connect, opened, logins } = await loginWorld(server)
    await login()
    const { asked: _asked, ...earlier } = logins.read('files', server.url) ?? { asked: '' }
    await logins.alone('files', async () => logins.write('files', earlier as Login))
    await expect(connect().call('delete', {}, running)).rejects.toThrow(LOGIN)
    await login()
    expect(new URL(opened[1] ?? '').searchParams.get('scope')).toBe('read write')
  })

  it('and is not given it is asked for once: no other login is asked of anybody', async () => {
    const server = await startLoginServer({ needs, grants: ['read'] })
    const { login, connect, logins } = await loginWorld(server)
    await login()
    const one = connect()
    await expect(one.call('delete', {}, running)).rejects.toThrow(LOGIN)
    expect(await login()).toEqual({ scopes: ['read'], missing: ['write'] })
    const refused = one.call('delete', {}, running)
    await expect(refused).rejects.toThrow('asked for what that needs and was not given it')
    await expect(refused).rejects.not.toThrow('mcp login')
    expect(logins.wanted('files', server.url)).toBeUndefined()
    expect(await one.call('who', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  })

  it('that its refusal does not name is asked for by all that the description names, once', async () => {
    const resource = (origin: string) => ({
      body: { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['read', 'list'] },
    })
    const server = await startLoginServer({ needs, hidesScope: true, resource, grants: ['read', 'list', 'write'] })
    const { login, connect, opened } = await loginWorld(server)
    await login()
    const one = connect()
    await expect(one.call('delete', {}, running)).rejects.toThrow(LOGIN)
    await login()
    expect(new URL(opened[1] ?? '').searchParams.get('scope')).toBe('read list')
    await expect(one.call('delete', {}, running)).rejects.toThrow('was not given it')
  })

  it('is named to the operator where the configuration does not list it', async () => {
    const server = await startLoginServer({ needs, grants: ['read', 'write'], registered: 'parley' })
    const { login, connect } = await loginWorld(server, { login: { clientId: 'parley', scopes: ['read'] } })
    await login()
    const refused = connect().call('delete', {}, running)
    await expect(refused).rejects.toThrow(`it needs write, which its oauth.scopes do not name. Add it there. ${LOGIN}`)
  })

  it('is kept with the scopes of later logins and renewals', async () => {
    const server = await startLoginServer({ needs, grants: ['read', 'write'] })
    const { login, connect, opened, file } = await loginWorld(server)
    await login()
    const one = connect()
    await expect(one.call('delete', {}, running)).rejects.toThrow(LOGIN)
    await login()
    server.expire()
    await one.call('delete', {}, running)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ asked: 'read write' })
    await login()
    expect(new URL(opened[2] ?? '').searchParams.get('scope')).toBe('read write')
  })
})

describe('what a server asks for', () => {
  it('C29: does not take a token of the login into the file or the address that is opened', async () => {
    let sent = ''
    const repeated = () => `Bearer scope="${sent}", resource_metadata="https://x.example/${sent}"`
    const refusal = () => ({ challenge: sent === '' ? 'Bearer' : repeated() })
    const server = await startLoginServer({ refusal, says: (authorization) => (sent = authorization.slice(7)) })
    const { login, connect, logins } = await loginWorld(server)
    await login()
    const one = connect()
    await one.call('who', {}, running)
    server.revoke()
    await expect(one.call('who', {}, running)).rejects.toThrow(LOGIN)
    expect(sent).not.toBe('')
    expect(JSON.stringify(logins.wanted('files', server.url) ?? {})).not.toContain(sent)
  })

  it('is forgotten at a logout, and nothing for a header of the operator', async () => {
    const server = await startLoginServer({ asksAt: 'tools/call' })
    const { connect, logins, logout } = await loginWorld(server)
    await expect(connect().call('who', {}, running)).rejects.toThrow(LOGIN)
    expect(logins.wanted('files', server.url)).toMatchObject({ kind: 'login', scope: 'read' })
    await logout()
    expect(logins.wanted('files', server.url)).toBeUndefined()
    const own = await loginWorld(server, { headers: { authorization: 'Bearer own' } })
    await expect(own.login()).rejects.toThrow('files has an Authorization header in the configuration')
  })

  it.each([
    ['401 without a challenge', { status: 401 }],
    ['401 with a realm alone', { challenge: 'bearer realm="tools"' }],
    ['400 with the code of an invalid token', { status: 400, challenge: 'Bearer error="invalid_token"' }],
    ['403 with the code of an invalid token', { status: 403, challenge: 'Bearer error="invalid_token"' }],
  ])('is a login, or its renewal: %s', async (_how, refusal) => {
    const server = await startLoginServer({ refusal: () => refusal })
    const { login, connect } = await loginWorld(server)
    await expect(connect().list()).rejects.toThrow(`it asks for a login. ${LOGIN}`)
    await login()
    server.expire()
    expect((await connect().list()).tools).toHaveLength(1)
    expect(server.refreshed).toHaveLength(1)
  })

  it('is a login where a challenge comes with 403 to whoever is not logged in, and a refusal to whoever is', async () => {
    const server = await startLoginServer({ refusal: () => ({ status: 403, challenge: 'Bearer realm="tools"' }) })
    const { login, connect } = await loginWorld(server)
    await expect(connect().list()).rejects.toThrow(`it asks for a login. ${LOGIN}`)
    await login()
    server.expire()
    await expect(connect().list()).rejects.not.toThrow(LOGIN)
    expect(server.refreshed).toEqual([])
  })
})
