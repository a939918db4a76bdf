import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { McpAddress } from '../../core/mcp.ts'
import { createTextRedactor } from '../../core/redact.ts'
import { isOver, loginCommand, toLoginError } from './login-error.ts'
import { keptTokens, type Login, type Logins } from './logins.ts'

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
 * can show them. Throws `unavailable` with the command to run where somebody has to log in.
 */
export function loginFetch(server: string, address: McpAddress, deps: LoginFetchDeps): typeof globalThis.fetch {
  const { fetch, logins, clock } = deps
  const { url, headers } = address
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return fetch
  return async (input, init) => {
    const first = logins.read(server, url)
    if (first === undefined) {
      const response = await fetch(input, init)
      if (response.status === 401) throw wanted(server, 'it asks for a login')
      return response
    }
    const fresh = isFresh(first, clock) ? first : await renew(server, first, { address, deps })
    const response = await fetch(input, withToken(init, fresh))
    if (response.status !== 401) return cleaned(response, fresh, server)
    const renewed = await renew(server, fresh, { address, deps })
    const again = await fetch(input, withToken(init, renewed))
    if (again.status === 401) throw wanted(server, 'it does not accept its login')
    return cleaned(again, renewed, server)
  }
}

function isFresh({ tokens, expiresAt }: Login, clock: Clock): boolean {
  return tokens !== undefined && (expiresAt === undefined || clock.now() < expiresAt - SOON_MS)
}

/** One renewal at a time: most servers take a refresh token back that is used twice, and the login with it. */
async function renew(
  server: string,
  used: Login,
  { address: { url }, deps }: { readonly address: McpAddress; readonly deps: LoginFetchDeps },
): Promise<Login> {
  const { logins, authFetch, clock } = deps
  return logins.alone(server, async () => {
    const login = logins.read(server, url)
    if (login?.tokens === undefined) throw wanted(server, 'its login has ended')
    if (login.tokens.access_token !== used.tokens?.access_token) return login
    const { refresh_token: refreshToken } = login.tokens
    if (refreshToken === undefined) throw wanted(server, 'its login has ended')
    logins.reserve(server)
    const next = await renewed(login, refreshToken, { authFetch, clock }).catch((error: unknown): Login => {
      if (!isOver(error)) throw toLoginError(error, new URL(login.issuer).host)
      const { tokens: _ended, ...rest } = login
      return rest
    })
    logins.write(server, next)
    if (next.tokens === undefined) throw wanted(server, 'its login has ended')
    return next
  })
}

async function renewed(
  login: Login,
  refreshToken: string,
  { authFetch, clock }: Pick<LoginFetchDeps, 'authFetch' | 'clock'>,
): Promise<Login> {
  const { refreshAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const tokens = await refreshAuthorization(login.issuer, {
    refreshToken,
    metadata: login.metadata as AuthorizationServerMetadata,
    clientInformation: login.client as OAuthClientInformationMixed,
    ...(login.resource === undefined ? {} : { resource: login.resource }),
    fetchFn: authFetch,
  })
  const { expiresAt: _old, ...rest } = login
  return { ...rest, ...keptTokens(tokens, clock, login.tokens?.scope) }
}

function wanted(server: string, why: string): ParleyError {
  return new ParleyError('unavailable', `${why}. Its operator runs: ${loginCommand(server)}`)
}

function withToken(init: RequestInit | undefined, { tokens }: Login): RequestInit {
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${tokens?.access_token ?? ''}`)
  return { ...init, headers }
}

async function cleaned(response: Response, { tokens, client }: Login, server: string): Promise<Response> {
  const { status, headers } = response
  if (status === 403 && /insufficient_scope/.test(headers.get('www-authenticate') ?? ''))
    throw wanted(server, 'its login does not allow that')
  if (response.body === null) return response
  const secrets = [tokens?.access_token, tokens?.refresh_token, client.client_secret]
  const redact = createTextRedactor(secrets.filter((one) => one !== undefined))
  return new Response(redact(await response.text()), { status, headers })
}
