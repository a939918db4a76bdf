import { randomBytes } from 'node:crypto'
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js'
import { type Clock, sleep } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { LoginTalk, McpAddress } from '../../core/mcp.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { discoverLogin, type LoginPlace } from './discover.ts'
import { toLoginError } from './login-error.ts'
import { keptTokens, type Logins } from './logins.ts'
import { isAnswer, listenForRedirect, type Redirects } from './redirects.ts'

export interface LogInDeps {
  readonly clock: Clock
  readonly logins: Logins
  /** Asks by HTTP; only what the operator configured is exempt from the check of addresses. */
  readonly fetch: typeof globalThis.fetch
}

/** The time in which somebody has to log in. */
const WITHIN_MS = 600_000

/**
 * Logs in at a tool server, as the person who opens the address that is shown in a browser, wherever that runs, and
 * keeps the tokens. Returns the scopes that were granted. Throws in words for the operator.
 */
export async function logIn(
  server: string,
  { url, login: own = {} }: McpAddress,
  talk: LoginTalk,
  { clock, logins, fetch }: LogInDeps,
): Promise<readonly string[]> {
  const sdk = await import('@modelcontextprotocol/sdk/client/auth.js')
  await logins.alone(server, async () => logins.reserve(server))
  const place = await discoverLogin(url, fetch)
  const { issuer, metadata, resource } = place
  const { host } = new URL(issuer)
  const state = randomBytes(32).toString('base64url')
  const redirects = await listenForRedirect(talk.port ?? 0, state)
  try {
    const scopes = own.scopes ?? place.scopes
    const scope = scopes === undefined ? {} : { scope: scopes.join(' ') }
    const client = await clientOf(own, { place, redirectUrl: redirects.url, fetch, ...scope })
    const asked = { metadata, clientInformation: client, redirectUrl: redirects.url, state, ...scope }
    const about = resource === undefined ? {} : { resource }
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(issuer, { ...asked, ...about })
    talk.open(authorizationUrl.href, redirects.url)
    const authorizationCode = await codeFor(state, { redirects, talk, place, clock })
    const tokens = await sdk.exchangeAuthorization(issuer, {
      ...{ metadata, clientInformation: client, authorizationCode, codeVerifier, redirectUri: redirects.url },
      ...about,
      fetchFn: fetch,
    })
    const kept = keptTokens(tokens, clock, scope.scope)
    const login = { ...{ url, issuer, metadata: { ...metadata }, client: { ...client }, ...about }, ...kept }
    // A renewal of the earlier login that runs now would take the place of this one.
    await logins.alone(server, async () => logins.write(server, login))
    return kept.tokens?.scope?.split(' ') ?? []
  } catch (error) {
    throw toLoginError(error, host)
  } finally {
    redirects.close()
  }
}

interface Registering {
  readonly place: LoginPlace
  readonly redirectUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly scope?: string
}

/** Returns the OAuth client: the one that the operator has configured, else Parley registers one. */
async function clientOf(
  { clientId, clientSecret }: NonNullable<McpAddress['login']>,
  { place: { issuer, metadata }, redirectUrl, fetch, scope }: Registering,
): Promise<OAuthClientInformationMixed> {
  if (clientId !== undefined)
    return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
  const { host } = new URL(issuer)
  if (metadata.registration_endpoint === undefined)
    throw new ParleyError(
      'invalid',
      `${host} does not let programs make themselves known. Register Parley there and set oauth.clientId; the address to come back to is http://127.0.0.1:<port>/callback, with --port.`,
    )
  const { registerClient } = await import('@modelcontextprotocol/sdk/client/auth.js')
  return registerClient(issuer, {
    metadata,
    clientMetadata: {
      client_name: 'Parley',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    ...(scope === undefined ? {} : { scope }),
    fetchFn: fetch,
  })
}

interface Waiting {
  readonly redirects: Redirects
  readonly talk: LoginTalk
  readonly place: LoginPlace
  readonly clock: Clock
}

/** Waits for the browser, or for somebody who pastes the address at which it has arrived. */
async function codeFor(state: string, { redirects, talk, place, clock }: Waiting): Promise<string> {
  const over = new AbortController()
  const late = sleep(clock, WITHIN_MS, over.signal).then(() => undefined)
  try {
    const answer = await Promise.race([redirects.answered, pastedAnswer(state, talk, over.signal), late])
    if (answer === undefined) throw new ParleyError('unavailable', 'Nobody has logged in within ten minutes.')
    return codeIn(answer, place)
  } finally {
    over.abort()
  }
}

async function pastedAnswer(state: string, { pasted, wrong }: LoginTalk, over: AbortSignal): Promise<URL> {
  for await (const line of pasted ?? []) {
    if (over.aborted) break
    const url = parseUrl(line.trim())
    if (url !== undefined && isAnswer(url, state)) return url
    if (line.trim() !== '') wrong()
  }
  // After the end of the input the answer can come from the browser alone.
  return new Promise(() => undefined)
}

function codeIn({ searchParams: answer }: URL, { issuer }: LoginPlace): string {
  const by = answer.get('iss')
  if (by !== null && by.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
    throw new ParleyError('forbidden', 'Another authorization server has answered; nothing was sent to it.')
  const code = answer.get('code')
  if (code !== null && !answer.has('error')) return code
  const why = answer.get('error') ?? ''
  throw new ParleyError('forbidden', `The login was refused: ${/^[a-z_]{1,40}$/.test(why) ? why : 'no reason given'}.`)
}
