import { randomBytes } from 'node:crypto'
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js'
import * as z from 'zod'
import { type Clock, sleep } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { LoggedIn, LoginTalk, McpAddress } from '../../core/mcp.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { discoverLogin, type LoginPlace } from './discover.ts'
import { toLoginError, withoutResource } from './login-error.ts'
import { hasOwnAuthorization } from './login-fetch.ts'
import { keptTokens, type Login, type Logins } from './logins.ts'
import { answerIn, plainAnswers } from './plain-answers.ts'
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
 * keeps the tokens. Throws in words for the operator.
 */
export async function logIn(
  server: string,
  at: McpAddress,
  talk: LoginTalk,
  { clock, logins, fetch }: LogInDeps,
): Promise<LoggedIn> {
  const { url, login: own = {} } = at
  if (hasOwnAuthorization(at))
    throw new ParleyError(
      'invalid',
      `${server} has an Authorization header in the configuration, which is used instead.`,
    )
  const sdk = await import('@modelcontextprotocol/sdk/client/auth.js')
  await logins.alone(server, async () => logins.reserve(server))
  const [wanted, before] = [logins.wanted(server, url), lastLogin(server, url, logins)]
  const place = await discoverLogin({ ...at, wanted, known: before !== undefined }, fetch)
  const { issuer, metadata, resource } = place
  const { host } = new URL(issuer)
  const state = randomBytes(32).toString('base64url')
  const redirects = await listenForRedirect(talk.port ?? 0, state)
  try {
    const scopes = own.scopes ?? scopesFor(place, before)
    const scope = scopes === undefined ? {} : { scope: scopes.join(' ') }
    const registered = await clientOf(own, { place, redirects, byName: talk.byName === true, fetch, ...scope })
    const { client: clientInformation, redirectUrl } = registered
    const asked = { metadata, clientInformation, redirectUrl, state, ...scope }
    const about = resource === undefined ? {} : { resource }
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(issuer, { ...asked, ...about })
    talk.open(authorizationUrl.href, redirectUrl)
    const authorizationCode = await codeFor(state, { redirects, talk, place, clock })
    const tokens = await withoutResource(resource, (named) =>
      sdk.exchangeAuthorization(issuer, {
        ...{ metadata, clientInformation, authorizationCode, codeVerifier, redirectUri: redirectUrl },
        ...named,
        fetchFn: plainAnswers(fetch),
      }),
    )
    const kept = keptTokens(tokens, clock, scope.scope)
    const login: Login = {
      ...{ url, issuer, metadata: { ...metadata }, client: { ...clientInformation }, ...about, ...kept },
      ...(scope.scope === undefined ? {} : { asked: scope.scope }),
      ...(wanted?.kind === 'scope' && wanted.scope === undefined ? { forUnnamed: true } : {}),
    }
    // A renewal of the earlier login that runs now would take the place of this one.
    await logins.alone(server, async () => {
      logins.write(server, login)
      logins.met(server)
    })
    const granted = kept.tokens?.scope?.split(' ') ?? []
    return { scopes: granted, missing: scopes?.filter((one) => !granted.includes(one) && one !== OFFLINE) ?? [] }
  } catch (error) {
    throw toLoginError(error, host)
  } finally {
    redirects.close()
  }
}

/** The login before, if it can be read: a new one takes its place in any case. */
function lastLogin(server: string, url: string, logins: Logins): Login | undefined {
  try {
    return logins.read(server, url)
  } catch {
    return undefined
  }
}

/** The scope by which OpenID providers give a token to renew with. */
const OFFLINE = 'offline_access'

/**
 * Returns the scopes to ask for: what the server names, and what the login before has asked for there, so that a
 * further scope takes none away; and the one for renewals, where the authorization server has it.
 */
function scopesFor({ issuer, metadata, scopes }: LoginPlace, before: Login | undefined): readonly string[] | undefined {
  const earlier = before?.issuer === issuer ? ((before.asked ?? before.tokens?.scope)?.split(' ') ?? []) : []
  const named = [...new Set([...earlier, ...(scopes ?? [])])].filter((one) => one !== '')
  if (named.length === 0) return undefined
  const supported: unknown = Reflect.get(metadata, 'scopes_supported')
  const offline = Array.isArray(supported) && supported.includes(OFFLINE) && !named.includes(OFFLINE)
  return offline ? [...named, OFFLINE] : named
}

interface Registering {
  readonly place: LoginPlace
  readonly redirects: Redirects
  /** The browser is to come back to this machine by its name. */
  readonly byName: boolean
  readonly fetch: typeof globalThis.fetch
  readonly scope?: string
}

interface Registered {
  readonly client: OAuthClientInformationMixed
  readonly redirectUrl: string
}

/** Returns the OAuth client: the one that the operator has configured, else Parley registers one. */
async function clientOf(
  { clientId, clientSecret }: NonNullable<McpAddress['login']>,
  registering: Registering,
): Promise<Registered> {
  const { redirects, byName, place } = registering
  const [first, second] = byName ? [redirects.byName] : [redirects.url, redirects.byName]
  if (clientId !== undefined) {
    const client = { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
    return { client, redirectUrl: first }
  }
  if (place.metadata.registration_endpoint === undefined) throw notRegistered(place)
  const answer = await register(first, registering)
  if ('client' in answer) return answer
  // Some take no address of this machine but its name.
  const again = second === undefined || answer.status !== 400 ? answer : await register(second, registering)
  if ('client' in again) return again
  throw place.guessed ?? notRegistered(place, again)
}

interface NotRegistered {
  readonly status: number
  readonly code?: string
}

async function register(redirectUrl: string, registering: Registering): Promise<Registered | NotRegistered> {
  const { place, scope, fetch } = registering
  const { registration_endpoint: endpoint = '', token_endpoint_auth_methods_supported: ways = [] } = place.metadata
  const way = ['none', 'client_secret_post', 'client_secret_basic'].find((one) => ways.includes(one)) ?? 'none'
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...{ client_name: 'Parley', application_type: 'native', redirect_uris: [redirectUrl] },
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: way,
      ...(scope === undefined ? {} : { scope }),
    }),
  })
  const { data, error } = REGISTERED.safeParse(await answerIn(response).catch(() => undefined))
  if (response.ok && data?.client_id !== undefined) return { client: clientIn(data, way), redirectUrl }
  const code = error === undefined ? data.error : undefined
  return { status: response.status, ...(code !== undefined && /^[a-z_]{1,40}$/.test(code) ? { code } : {}) }
}

const REGISTERED = z.object({
  client_id: z.coerce.string().min(1).optional(),
  client_secret: z.string().nullish(),
  token_endpoint_auth_method: z.string().nullish(),
  error: z.string().optional(),
})

function clientIn(
  { client_id = '', client_secret: secret, token_endpoint_auth_method: way }: z.output<typeof REGISTERED>,
  asked: string,
): OAuthClientInformationMixed {
  // A client that was given a secret unasked may still have to use it.
  const method = way ?? (secret ? undefined : asked)
  return {
    client_id,
    ...(secret ? { client_secret: secret } : {}),
    ...(method && { token_endpoint_auth_method: method }),
  }
}

/** Returns the words about an authorization server that makes no client of a program which asks for it. */
function notRegistered({ issuer, metadata }: LoginPlace, refusal?: NotRegistered): ParleyError {
  const { host } = new URL(issuer)
  const why = refusal && ` (it answers ${refusal.code ?? refusal.status})`
  const document = metadata.client_id_metadata_document_supported
    ? ' It may also be the https address of a client metadata document that you publish.'
    : ''
  return new ParleyError(
    'invalid',
    `${host} does not let programs make themselves known${why ?? ''}. Register Parley there and set oauth.clientId; the address to come back to is http://127.0.0.1:<port>/callback, with --port.${document}`,
  )
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

function codeIn({ searchParams: answer }: URL, { issuer, metadata }: LoginPlace): string {
  const by = answer.get('iss')
  if (by === null && Reflect.get(metadata, 'authorization_response_iss_parameter_supported') === true)
    throw new ParleyError('forbidden', 'The answer does not say which authorization server gave it; nothing was sent.')
  if (by !== null && by.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
    throw new ParleyError('forbidden', 'Another authorization server has answered; nothing was sent to it.')
  const code = answer.get('code')
  if (code !== null && !answer.has('error')) return code
  const why = answer.get('error') ?? ''
  throw new ParleyError('forbidden', `The login was refused: ${/^[a-z_]{1,40}$/.test(why) ? why : 'no reason given'}.`)
}

/** `revoked`: its authorization server has taken the tokens back; else they are forgotten here alone. */
export type LoggedOut = 'revoked' | 'forgotten' | 'none'

/** Forgets the login at a server, and asks its authorization server to take the tokens back, where it does that. */
export async function logOut(
  server: string,
  url: string,
  { logins, fetch }: { readonly logins: Logins; readonly fetch: typeof globalThis.fetch },
): Promise<LoggedOut> {
  return logins.alone(server, async () => {
    const login = logins.read(server, url)
    // First here: whatever becomes of the question, no token is used from now on.
    const there = logins.remove(server)
    if (login?.tokens === undefined) return there ? 'forgotten' : 'none'
    return (await revoke(login, fetch)) ? 'revoked' : 'forgotten'
  })
}

async function revoke({ metadata, client, tokens }: Login, fetch: typeof globalThis.fetch): Promise<boolean> {
  const { revocation_endpoint: endpoint } = metadata
  if (typeof endpoint !== 'string' || tokens === undefined) return false
  const { client_id, client_secret } = client
  const body = new URLSearchParams({ client_id, ...(client_secret === undefined ? {} : { client_secret }) })
  body.set('token', tokens.refresh_token ?? tokens.access_token)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(endpoint, { method: 'POST', headers, body }).catch(() => undefined)
  return answer?.ok === true
}
