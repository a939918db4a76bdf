import { describe, expect, it } from 'vitest'
import { type LoginQuirks, type LoginServer, metadataOf, startLoginServer } from '../../fakes/login-server.ts'
import { loginWorld } from '../../fakes/login-world.ts'

const running = { signal: new AbortController().signal }
const PAGE = { text: '<!doctype html><title>App</title>' }
const missing = () => ({ status: 404 })
const RESOURCE = '/.well-known/oauth-protected-resource/mcp'
const METADATA = '/.well-known/oauth-authorization-server'

/** Logs in and has a tool answer, once with the token that was given and once with a renewed one. */
async function works(server: LoginServer, own: Parameters<typeof loginWorld>[1] = {}) {
  const world = await loginWorld(server, own)
  await world.login()
  const one = world.connect()
  expect(await one.call('who', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  server.expire()
  expect(await one.call('who', {}, running)).toMatchObject({ content: [{ text: 'ada' }] })
  return world
}

const tenant = (path: string, more: object = {}): LoginQuirks => ({
  at: {
    [RESOURCE]: (origin) => ({ body: { resource: `${origin}/mcp`, authorization_servers: [`${origin}/tenant`] } }),
    [path]: (origin) => ({ body: { ...metadataOf(origin), issuer: `${origin}/tenant`, ...more } }),
  },
})

describe('a login server is found', () => {
  it.each<[string, LoginQuirks]>([
    [
      'by a description at the root, where a page answers for every other address',
      {
        at: {
          [RESOURCE]: () => PAGE,
          '/.well-known/oauth-protected-resource': (origin) => ({
            body: { resource: origin, authorization_servers: [`${origin}/`] },
          }),
        },
      },
    ],
    [
      'by a description at an address of its own',
      {
        refusal: () => ({ challenge: 'Negotiate, bearer resource_metadata=/here ' }),
        at: {
          [RESOURCE]: missing,
          '/here': (origin) => ({ body: { resource: `${origin}/mcp`, authorization_servers: [origin] } }),
        },
      },
    ],
    ['of an issuer with a path', tenant(`${METADATA}/tenant`)],
    ['as an OpenID provider before a path', tenant('/.well-known/openid-configuration/tenant')],
    ['as an OpenID provider behind a path', tenant('/tenant/.well-known/openid-configuration')],
    [
      'with empty fields',
      tenant(`${METADATA}/tenant`, { jwks_uri: null, service_documentation: '', scopes_supported: null }),
    ],
    [
      'that does not say how it proves a code',
      tenant(`${METADATA}/tenant`, { code_challenge_methods_supported: null }),
    ],
    ['at the origin of a server without a description', { at: { [RESOURCE]: missing } }],
    ['by the endpoints of the first version of the protocol', { bare: true }],
  ])('%s', async (_how, quirks) => {
    await works(await startLoginServer(quirks))
  })

  it('by the usual place of a description where the one in its challenge is not there', async () => {
    const challenge = 'Bearer resource_metadata="/nowhere", resource_metadata="/twice"'
    const server = await startLoginServer({ refusal: () => ({ challenge }) })
    const { opened } = await works(server)
    expect(new URL(opened[0] ?? '').searchParams.get('resource')).toBe(server.url)
  })

  it('under the name that the origin of a server without a description gives it, if it speaks for itself', async () => {
    const home = await startLoginServer()
    const named = { [RESOURCE]: missing, [METADATA]: () => ({ body: metadataOf(home.origin) }) }
    const server = await startLoginServer({ at: named })
    const { login, opened } = await loginWorld(server)
    await login()
    expect(opened[0]).toContain(`${home.origin}/authorize?`)
    const other = { ...named, [METADATA]: () => ({ body: { ...metadataOf(home.origin), issuer: `${home.origin}/x` } }) }
    const lying = await loginWorld(await startLoginServer({ at: other }))
    await expect(lying.login()).rejects.toThrow('speaks for another issuer')
  })

  it('in no words of a refusal: the operator is told the address, and it is not opened', async () => {
    const body = { error: 'login first', url: 'https://tools.example/start?x=1' }
    const server = await startLoginServer({ bare: true, registered: 'parley', refusal: () => ({ body }) })
    const { login, opened } = await loginWorld(server)
    await expect(login()).rejects.toThrow(
      'does not say how one logs in there. Its refusal names https://tools.example/start?x=1, which Parley does not open.',
    )
    expect(opened).toEqual([])
  })
})

describe('tokens are taken', () => {
  it.each<[string, NonNullable<LoginQuirks['given']>]>([
    ['as a form', (good) => ({ text: String(new URLSearchParams(good as Record<string, string>)) })],
    ['without their kind and scope', ({ access_token, refresh_token }) => ({ body: { access_token, refresh_token } })],
    ['with a time as text', (good) => ({ body: { ...good, expires_in: '3600', token_type: 'bearer' } })],
    ['with a time that is none', (good) => ({ body: { ...good, expires_in: '', ext: null } })],
    ['with a list of scopes', (good) => ({ body: { ...good, scope: ['read', 'list'], token_type: 'BEARER' } })],
  ])('%s', async (_how, given) => {
    await works(await startLoginServer({ given }))
  })

  it.each([0, '0', -1])('with a time of %s, which ends nothing, and nothing to renew them with', async (expires_in) => {
    const given = ({ access_token }: Readonly<Record<string, unknown>>) => ({
      body: { access_token, expires_in, refresh_token: null },
    })
    const server = await startLoginServer({ given })
    const { login, connect } = await loginWorld(server)
    await login()
    expect((await connect().list()).tools).toHaveLength(1)
  })

  it('until their server refuses them where nothing renews them, whatever time was given', async () => {
    const given = ({ access_token }: Readonly<Record<string, unknown>>) => ({ body: { access_token, expires_in: 5 } })
    const server = await startLoginServer({ given })
    const { login, connect } = await loginWorld(server)
    await login()
    const one = connect()
    expect((await one.list()).tools).toHaveLength(1)
    server.expire()
    await expect(one.call('who', {}, running)).rejects.toThrow('its login has ended')
  })

  it.each(['invalid_request', 'invalid_target'])(
    'without the name of the resource where that is %s',
    async (refused) => {
      const server = await startLoginServer({ refusesResource: refused })
      const { logins, at } = await works(server)
      expect(server.refreshed).toHaveLength(1)
      expect(logins.read('files', at.url)?.resource).toBe(`${server.origin}/mcp`)
    },
  )

  it('with a new token and the old one to renew it with', async () => {
    let first: unknown
    const given = ({ refresh_token, ...good }: Readonly<Record<string, unknown>>) => {
      first ??= refresh_token
      return { body: first === refresh_token ? { ...good, refresh_token } : good }
    }
    const server = await startLoginServer({ given })
    const { logins } = await works(server)
    expect(logins.read('files', server.url)?.tokens?.refresh_token).toBe(first)
  })

  it.each([
    ['bad_verification_code', 'invalid_grant'],
    ['access_denied', 'access_denied'],
  ])('not with the error %s that comes as a success', async (error, code) => {
    const server = await startLoginServer({ token: () => ({ body: { error, error_description: 'canary' } }) })
    await expect((await loginWorld(server)).login()).rejects.toThrow(new RegExp(`refuses: ${code}\\.$`))
  })

  it('not of a kind that needs a key', async () => {
    const server = await startLoginServer({ given: (good) => ({ body: { ...good, token_type: 'DPoP' } }) })
    await expect((await loginWorld(server)).login()).rejects.toThrow('gives tokens of the kind DPoP alone')
  })

  it('until a renewal is refused by an error that comes as a success', async () => {
    let refuses = false
    const given = (good: Readonly<Record<string, unknown>>) => ({
      body: refuses ? { error: 'bad_refresh_token' } : good,
    })
    const server = await startLoginServer({ given })
    const { login, connect } = await loginWorld(server)
    await login()
    const one = connect()
    await one.list()
    refuses = true
    server.expire()
    await expect(one.call('who', {}, running)).rejects.toThrow('its login has ended')
  })

  it('from the one that was asked alone, where it says that it names itself', async () => {
    const server = await startLoginServer({ metadataMore: { authorization_response_iss_parameter_supported: true } })
    const { login } = await loginWorld(server)
    await expect(login()).rejects.toThrow('does not say which authorization server gave it')
    await login((to) => fetch(`${to}&iss=${encodeURIComponent(server.origin)}`))
  })
})

describe('Parley is made known', () => {
  it('as a program of this machine, for codes and renewals', async () => {
    const server = await startLoginServer()
    await works(server)
    expect(server.registrations).toMatchObject([
      {
        ...{ application_type: 'native', token_endpoint_auth_method: 'none' },
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ])
  })

  it.each([
    [{ comesBackTo: 'http://localhost:' }, undefined, 2],
    [{}, true, 1],
  ] as const)('by the name of this machine where it has to be: %o, --localhost %s', async (quirks, byName, times) => {
    const server = await startLoginServer(quirks)
    const { login, opened } = await loginWorld(server)
    await login(undefined, byName ? { byName } : {})
    expect(new URL(opened[0] ?? '').searchParams.get('redirect_uri')).toMatch(/^http:\/\/localhost:\d+\/callback$/)
    expect(server.registrations).toHaveLength(times)
  })

  it('with a secret in the form that its server wants', async () => {
    const more = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] }
    const secret = { client_secret: 'client-canary', token_endpoint_auth_method: 'client_secret_post' }
    const server = await startLoginServer({
      metadataMore: more,
      registeredMore: { ...secret, client_secret_expires_at: '0', redirect_uris: null, logo_uri: '' },
    })
    const { logins } = await works(server)
    expect(server.registrations).toMatchObject([{ token_endpoint_auth_method: 'client_secret_post' }])
    expect(logins.read('files', server.url)?.client).toMatchObject(secret)
  })

  it('anew at the login after its server has forgotten it', async () => {
    const server = await startLoginServer()
    const { login, connect } = await works(server)
    server.forget()
    server.expire()
    const one = connect()
    await expect(one.list()).rejects.toThrow('its login has ended')
    await login()
    expect((await connect().list()).tools).toHaveLength(1)
    expect(server.registrations).toHaveLength(2)
  })

  it.each([
    [{ status: 403, body: { error: 'access_denied' } }, 'access_denied'],
    [{ status: 404, text: 'nothing' }, '404'],
    [{ status: 200, text: '<html>' }, '200'],
    [
      { status: 400, body: { error: 'invalid_client_metadata', error_description: 'canary' } },
      'invalid_client_metadata',
    ],
  ])('or the operator reads how to do that: %o', async (answer, why) => {
    const more = { client_id_metadata_document_supported: true }
    const server = await startLoginServer({ at: { '/register': () => answer }, metadataMore: more })
    const { login } = await loginWorld(server)
    const words = `make themselves known (it answers ${why}). Register Parley there and set oauth.clientId`
    await expect(login()).rejects.toThrow(words)
    await expect(login()).rejects.toThrow('the https address of a client metadata document that you publish')
    await expect(login()).rejects.not.toThrow('canary')
  })

  it('by the address of a document that its operator publishes', async () => {
    const clientId = 'https://parley.example/client.json'
    const server = await startLoginServer({ registered: clientId })
    await works(server, { login: { clientId } })
  })
})

describe('the scopes of a login', () => {
  it.each([
    [['read', 'offline_access'], 'read offline_access'],
    [['read'], 'read'],
  ])('have the one for renewals where the authorization server lists it: %j', async (scopes_supported, scope) => {
    const { opened } = await works(await startLoginServer({ metadataMore: { scopes_supported } }))
    expect(new URL(opened[0] ?? '').searchParams.get('scope')).toBe(scope)
  })

  it('are those of the configuration alone', async () => {
    const metadataMore = { scopes_supported: ['offline_access'] }
    const { opened } = await works(await startLoginServer({ metadataMore }), { login: { scopes: ['list'] } })
    expect(new URL(opened[0] ?? '').searchParams.get('scope')).toBe('list')
  })
})
