import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js'
import { ParleyError } from '../../core/errors.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { isExempt } from './is-exempt.ts'
import { toLoginError } from './login-error.ts'

/** The place where one logs in for a tool server. */
export interface LoginPlace {
  readonly issuer: string
  readonly metadata: AuthorizationServerMetadata
  /** The server as its tokens name it. */
  readonly resource?: string
  readonly scopes?: readonly string[]
}

type Fetch = typeof globalThis.fetch

/**
 * Asks a tool server where one logs in for it, and that place what it offers. What is said there is believed only as
 * far as the protocol goes: about this server, by this issuer, and over TLS. Throws in words for the operator.
 */
export async function discoverLogin(server: string, fetch: Fetch): Promise<LoginPlace> {
  const hint = await askServer(server, fetch)
  const described = await describe(server, hint.resourceMetadataUrl, fetch)
  const issuer = described?.issuer ?? new URL('/', server).href
  requireSafe(server, issuer)
  const metadata = await metadataOf(issuer, fetch)
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata
  const revocation_endpoint: unknown = Reflect.get(metadata, 'revocation_endpoint')
  for (const one of [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint]) {
    if (typeof one === 'string') requireSafe(server, one)
  }
  const scopes = hint.scope?.split(' ') ?? described?.scopes
  return {
    ...{ issuer, metadata },
    ...(described === undefined ? {} : { resource: described.resource }),
    ...(scopes === undefined ? {} : { scopes }),
  }
}

/** A server says in its refusal where it is described. */
async function askServer(server: string, fetch: Fetch) {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const { LATEST_PROTOCOL_VERSION: protocolVersion } = await import('@modelcontextprotocol/sdk/types.js')
  const clientInfo = { name: 'parley', version: '1' }
  const params = { protocolVersion, capabilities: {}, clientInfo }
  const response = await fetch(server, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  if (response.ok) throw new ParleyError('invalid', 'The server answers without a login; none is needed.')
  if (response.status !== 401)
    throw new ParleyError('unavailable', `The server asks for no login; it answers ${response.status}.`)
  return extractWWWAuthenticateParams(response)
}

async function describe(server: string, resourceMetadataUrl: URL | undefined, fetch: Fetch) {
  const { discoverOAuthProtectedResourceMetadata } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import(
    '@modelcontextprotocol/sdk/shared/auth-utils.js'
  )
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
  try {
    const found = await discoverOAuthProtectedResourceMetadata(server, options, fetch)
    const asked = { requestedResource: resourceUrlFromServerUrl(server), configuredResource: found.resource }
    if (!checkResourceAllowed(asked))
      throw new ParleyError('forbidden', `The server describes itself as ${found.resource}, which is another one.`)
    const [issuer] = found.authorization_servers ?? []
    const scopes = found.scopes_supported
    return { resource: found.resource, ...(issuer === undefined ? {} : { issuer }), ...(scopes && { scopes }) }
  } catch (error) {
    // A server from before there was such a description is its own authorization server.
    if (error instanceof Error && /does not implement/.test(error.message)) return undefined
    throw toLoginError(error, new URL(server).host)
  }
}

async function metadataOf(issuer: string, fetch: Fetch): Promise<AuthorizationServerMetadata> {
  const { discoverAuthorizationServerMetadata } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const { host } = new URL(issuer)
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch((error: unknown) => {
    throw toLoginError(error, host)
  })
  if (metadata === undefined) throw new ParleyError('unavailable', `${host} does not say how one logs in there.`)
  // Else a server could send a client to one place and have its code redeemed at another.
  if (withoutSlash(metadata.issuer) !== withoutSlash(issuer))
    throw new ParleyError('forbidden', `${host} speaks for another issuer; the login is not begun.`)
  return metadata
}

function withoutSlash(address: string): string {
  const { href } = new URL(address)
  return href.replace(/\/$/, '')
}

function requireSafe(server: string, address: string): void {
  const url = parseUrl(address)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isExempt(server, url))) return
  throw new ParleyError('forbidden', 'The server names an address for the login that is not protected by TLS.')
}
