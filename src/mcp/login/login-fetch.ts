import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { McpAddress } from '../../core/mcp.ts'
import { createRedactingStream, createTextRedactor } from '../../core/redact.ts'
import { type Challenge, challengeIn } from './challenge.ts'
import { isOver, loginCommand, refusalCode, toLoginError, withoutResource } from './login-error.ts'
import { keptTokens, type Login, type Logins } from './logins.ts'
import { plainAnswers } from './plain-answers.ts'

export interface LoginFetchDeps {
  readonly clock: Clock
  readonly logins: Logins
  /** Asks the tool server. */
  readonly fetch: typeof globalThis.fetch
  /** Asks its authorization server. */
  readonly authFetch: typeof globalThis.fetch
}

/** A token that ends so soon may have ended when it arrives. */
const SOON_MS = 30_000

/**
 * Returns a `fetch` that adds the token of a login and renews it when it has ended. A server with a header of its own
 * for that is asked as it is. Whatever comes back is without the values of the login: no result of a tool and no error
 * can show them. Throws `unauthorized` with the command to run where somebody has to log in, anew or for a further
 * scope: what the server asked for is kept for that. Throws `forbidden` where another login would change nothing.
 */
export function loginFetch(server: string, address: McpAddress, deps: LoginFetchDeps): typeof globalThis.fetch {
  const { fetch, logins, clock } = deps
  const { url } = address
  if (hasOwnAuthorization(address)) return fetch
  const place = { server, address, deps }
  return async (input, init) => {
    const first = logins.read(server, url)
    if (first === undefined) {
      const response = await fetch(input, init)
      const asked = challengeIn(response, url, false)
      if (asked === undefined) return response
      await leave(response)
      await keep(asked, undefined, place)
      throw wanted(server, 'it asks for a login')
    }
    const fresh = isFresh(first, clock) ? first : await renew(first, place)
    const response = await fetch(input, withToken(init, fresh))
    const asked = askedOf(response, fresh, url)
    if (asked?.kind !== 'login') return answerOf(response, fresh, place)
    await leave(response)
    const renewed = await renew(fresh, place, asked)
    return answerOf(await fetch(input, withToken(init, renewed)), renewed, place)
  }
}

/** Returns true for a server whose token the operator has written down: no login is used there. */
export function hasOwnAuthorization({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

interface Place {
  readonly server: string
  readonly address: McpAddress
  readonly deps: LoginFetchDeps
}

async function answerOf(response: Response, login: Login, place: Place): Promise<Response> {
  const { server } = place
  const asked = askedOf(response, login, place.address.url)
  if (asked === undefined) return cleaned(response, login)
  await leave(response)
  if (asked.kind === 'scope') refuseOutOfReach(asked, login, place)
  await keep(asked, login, place)
  throw wanted(server, asked.kind === 'scope' ? 'its login does not allow that' : 'it does not accept its login')
}

/** Returns what a server asks beside a login; of a challenge that repeats a value of the login only its kind. */
function askedOf(response: Response, login: Login, url: string): Challenge | undefined {
  const asked = challengeIn(response, url, true)
  if (asked === undefined) return undefined
  const redact = createTextRedactor(secretsOf(login))
  const isClean = (value = ''): boolean => redact(value) === value
  return isClean(asked.scope) && isClean(asked.resourceMetadata) ? asked : { kind: asked.kind }
}

/** Throws where a login would ask for nothing else than the last one. */
function refuseOutOfReach({ scope }: Challenge, login: Login, { server, address }: Place): void {
  const own = address.login
  const [needed, before] = [scope?.split(' '), login.asked?.split(' ') ?? []]
  const unlisted = needed?.filter((one) => own?.scopes?.includes(one) === false) ?? []
  if (unlisted.length > 0)
    throw wanted(server, `it needs ${unlisted.join(' ')}, which its oauth.scopes do not name. Add it there`)
  if (needed === undefined ? login.forUnnamed : needed.every((one) => before.includes(one)))
    throw new ParleyError(
      'forbidden',
      'its login was asked for what that needs and was not given it: whoever logged in may not do that there.',
    )
}

/**
 * Keeps what was asked for beside a login, unless there is another one by now. The call ends in the same words if that
 * cannot be kept.
 */
async function keep(asked: Challenge, login: Login | undefined, place: Place): Promise<void> {
  const { server, address, deps } = place
  const keeping = deps.logins.alone(server, async () => {
    const now = deps.logins.read(server, address.url)
    if (now?.tokens?.access_token === login?.tokens?.access_token) deps.logins.want(server, address.url, asked)
  })
  await keeping.catch(() => undefined)
}

/** Ends an answer that nobody reads: its connection is held open until then. */
async function leave(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined)
}

/** A token that cannot be renewed is used until its server refuses it: some give a wrong time. */
function isFresh({ tokens, expiresAt }: Login, clock: Clock): boolean {
  if (tokens === undefined) return false
  return expiresAt === undefined || tokens.refresh_token === undefined || clock.now() < expiresAt - SOON_MS
}

/** One renewal at a time: most servers take a refresh token back that is used twice, and the login with it. */
async function renew(used: Login, { server, address, deps }: Place, asked?: Challenge): Promise<Login> {
  const { url } = address
  const { logins, authFetch, clock } = deps
  return logins.alone(server, async () => {
    const ended = (): ParleyError => {
      try {
        logins.want(server, url, asked ?? logins.wanted(server, url) ?? { kind: 'login' })
      } catch {
        // The words of the call say what to do, kept or not.
      }
      return wanted(server, 'its login has ended')
    }
    const login = logins.read(server, url)
    if (login?.tokens === undefined) throw ended()
    if (login.tokens.access_token !== used.tokens?.access_token) return login
    const { refresh_token: refreshToken } = login.tokens
    if (refreshToken === undefined) throw ended()
    logins.reserve(server)
    const next = await renewed(login, refreshToken, { authFetch, clock }).catch((error: unknown): Login => {
      if (!isOver(error)) throw notRenewed(server, error, new URL(login.issuer).host)
      const { tokens: _ended, ...rest } = login
      return rest
    })
    logins.write(server, next)
    if (next.tokens === undefined) throw ended()
    return next
  })
}

/** Returns an error for a refusal that may pass: the login is kept. Servers have many words for one that has ended. */
function notRenewed(server: string, error: unknown, host: string): ParleyError {
  const code = refusalCode(error)
  if (code === undefined) return toLoginError(error, host)
  return wanted(server, `${host} does not renew its login (${code}). If it stays so`)
}

async function renewed(
  login: Login,
  refreshToken: string,
  { authFetch, clock }: Pick<LoginFetchDeps, 'authFetch' | 'clock'>,
): Promise<Login> {
  const { refreshAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const tokens = await withoutResource(login.resource, (about) =>
    refreshAuthorization(login.issuer, {
      refreshToken,
      metadata: login.metadata as AuthorizationServerMetadata,
      clientInformation: login.client as OAuthClientInformationMixed,
      ...about,
      fetchFn: plainAnswers(authFetch),
    }),
  )
  const { expiresAt: _old, ...rest } = login
  return { ...rest, ...keptTokens(tokens, clock, login.tokens?.scope) }
}

function wanted(server: string, why: string): ParleyError {
  const end = why.endsWith('If it stays so') ? ', whoever' : '. Whoever'
  return new ParleyError('unauthorized', `${why}${end} runs Parley runs: ${loginCommand(server)}`)
}

function withToken(init: RequestInit | undefined, { tokens }: Login): RequestInit {
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${tokens?.access_token ?? ''}`)
  return { ...init, headers }
}

function cleaned(response: Response, login: Login): Response {
  if (response.body === null) return response
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return new Response(response.body.pipeThrough(createRedactingStream(secretsOf(login))), {
    status,
    statusText,
    headers,
  })
}

function secretsOf({ tokens, client }: Login): readonly string[] {
  const secrets = [tokens?.access_token, tokens?.refresh_token, client.client_secret]
  return secrets.filter((one) => one !== undefined)
}
