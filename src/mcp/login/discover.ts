import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js'
import { errorCode, ParleyError } from '../../core/errors.ts'
import type { McpAddress } from '../../core/mcp.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { type Challenge, challengeIn, isExempt } from './challenge.ts'
import { toLoginError } from './login-error.ts'
import { plainAnswers } from './plain-answers.ts'

/** The place where one logs in for a tool server. */
export interface LoginPlace {
  readonly issuer: string
  readonly metadata: AuthorizationServerMetadata
  /** The server as its tokens name it. */
  readonly resource?: string
  readonly scopes?: readonly string[]
  /** Nobody has said that one logs in there: these are the words if that turns out wrong. */
  readonly guessed?: ParleyError
}

type Fetch = typeof globalThis.fetch

/** A tool server, and what is known of its login before it is asked. */
export interface Server extends Pick<McpAddress, 'url' | 'headers'> {
  /** The demand that a call has met. */
  readonly wanted?: Challenge | undefined
  /** There has been a login before, so that one is possible. */
  readonly known: boolean
}

/**
 * Asks a tool server where one logs in for it, and that place what it offers. What is said there is believed only as
 * far as the protocol goes: about this server, by this issuer, and over TLS. Throws in words for the operator.
 */
export async function discoverLogin(server: Server, fetch: Fetch): Promise<LoginPlace> {
  const { url } = server
  const { scope, told, described } = await askAround(server, fetch)
  const issuer = described?.issuer ?? new URL('/', url).href
  const found = await metadataFor(url, described?.issuer, plainAnswers(fetch))
  const guessed = found === undefined ? silent(issuer, told) : undefined
  if (guessed !== undefined && described?.issuer !== undefined) throw guessed
  const metadata = found ?? defaultsAt(issuer)
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata
  const revocation_endpoint: unknown = Reflect.get(metadata, 'revocation_endpoint')
  for (const one of [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint]) {
    if (typeof one === 'string') requireSafe(url, one)
  }
  const scopes = scope?.split(' ') ?? described?.scopes
  return {
    ...{ issuer: described?.issuer ?? metadata.issuer, metadata },
    ...(described === undefined ? {} : { resource: described.resource }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(guessed === undefined ? {} : { guessed }),
  }
}

interface Around {
  readonly scope?: string | undefined
  readonly told?: string | undefined
  readonly described?: Description | undefined
}

/** Looks for a login in what a call has met, in what the server refuses now, and in its description of itself. */
async function askAround(server: Server, fetch: Fetch): Promise<Around> {
  const { url, wanted, known } = server
  const refusal = wanted?.resourceMetadata === undefined ? await askServer(server, fetch) : undefined
  const { scope, resourceMetadata } = { ...refusal?.challenge, ...wanted }
  // A further scope that was not named is none of those that any request needs.
  const isUnnamed = wanted?.kind === 'scope' && wanted.scope === undefined
  const isSure = known || wanted !== undefined || refusal !== undefined
  const described = await describe(url, resourceMetadata, plainAnswers(fetch)).catch((error: unknown) => {
    if (isSure || errorCode(error) === 'forbidden') throw error
  })
  if (!isSure && !described) throw new ParleyError('invalid', 'The server answers without a login; none is needed.')
  return { scope: isUnnamed ? undefined : scope, told: refusal?.told, described: described || undefined }
}

function silent(issuer: string, told: string | undefined): ParleyError {
  const words = `${new URL(issuer).host} does not say how one logs in there.`
  const hint = `Its refusal names ${told}, which Parley does not open.`
  return new ParleyError('unavailable', told === undefined ? words : `${words} ${hint}`)
}

/** Returns the endpoints that the first version of the protocol gives a server which says nothing of them. */
function defaultsAt(issuer: string): AuthorizationServerMetadata {
  const at = (path: string): string => new URL(path, issuer).href
  const endpoints = { authorization_endpoint: at('/authorize'), token_endpoint: at('/token') }
  return { issuer, ...endpoints, registration_endpoint: at('/register'), response_types_supported: ['code'] }
}

interface Refusal {
  readonly challenge: Challenge
  /** An address in the words of the refusal. Nothing asks there: it is for the operator. */
  readonly told?: string
}

/** A name that no server gives a tool: asking for it has no effect but the refusal that any call would get. */
const NO_TOOL = 'parley-asks-whether-a-login-is-needed'

/**
 * Returns the refusal in which a server asks for a login: of the first request, of its list, or of a call. Returns
 * undefined where it refuses none. Throws `unavailable` for a server that cannot be asked at all.
 */
async function askServer({ url, headers: own }: Server, fetch: Fetch): Promise<Refusal | undefined> {
  const { LATEST_PROTOCOL_VERSION: protocolVersion } = await import('@modelcontextprotocol/sdk/types.js')
  const headers = new Headers({ ...own, 'content-type': 'application/json' })
  headers.set('accept', 'application/json, text/event-stream')
  const ask = (request: object): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...request }) })
  const clientInfo = { name: 'parley', version: '1' }
  const first = await ask({ id: 0, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } })
  const refused = await refusalIn(first, url)
  if (refused !== undefined) return refused
  if (!first.ok) throw new ParleyError('unavailable', `The server asks for no login; it answers ${first.status}.`)
  const session = first.headers.get('mcp-session-id')
  if (session !== null) headers.set('mcp-session-id', session)
  headers.set(
    'mcp-protocol-version',
    /"protocolVersion":\s*"([\d-]{10})"/.exec(await beginning(first))?.[1] ?? protocolVersion,
  )
  const call = { id: 2, method: 'tools/call', params: { name: NO_TOOL, arguments: {} } }
  for (const request of [{ method: 'notifications/initialized' }, { id: 1, method: 'tools/list', params: {} }, call]) {
    // One that does not answer this has said nothing of a login.
    const answer = await ask(request).catch(() => undefined)
    const found = answer && (await refusalIn(answer, url))
    if (found !== undefined) return found
    await answer?.body?.cancel().catch(() => undefined)
  }
  return undefined
}

async function refusalIn(response: Response, url: string): Promise<Refusal | undefined> {
  const challenge = challengeIn(response, url, false)
  if (challenge === undefined) return undefined
  const [told] = /https:\/\/[\w.-]+[\w./?&=%~+:#-]{0,300}/.exec(await beginning(response)) ?? []
  return { challenge, ...(told === undefined ? {} : { told }) }
}

const MOST_READ = 20_000

/** Returns the first characters of an answer, which may be a stream that stays open. */
async function beginning(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MOST_READ || text.includes('\n\n') || text.includes('protocolVersion')) break
  }
  return text
}

interface Description {
  readonly resource: string
  readonly issuer?: string
  readonly scopes?: readonly string[]
}

async function describe(server: string, at: string | undefined, fetch: Fetch): Promise<Description | undefined> {
  const { discoverOAuthProtectedResourceMetadata } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import(
    '@modelcontextprotocol/sdk/shared/auth-utils.js'
  )
  if (at !== undefined) requireSafe(server, at)
  const options = at === undefined ? {} : { resourceMetadataUrl: at }
  try {
    const found = await discoverOAuthProtectedResourceMetadata(server, options, fetch)
    // A slash at its end makes no other server.
    const configuredResource = found.resource.replace(/\/$/, '')
    if (!checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(server), configuredResource }))
      throw new ParleyError('forbidden', `The server describes itself as ${found.resource}, which is another one.`)
    const [issuer] = found.authorization_servers ?? []
    const { scopes_supported: scopes } = found
    return { resource: found.resource, ...(issuer === undefined ? {} : { issuer }), ...(scopes && { scopes }) }
  } catch (error) {
    if (!(error instanceof Error && /does not implement/.test(error.message)))
      throw toLoginError(error, new URL(server).host)
    // A server from before there was such a description is its own authorization server.
    return at === undefined ? undefined : describe(server, undefined, fetch)
  }
}

/**
 * Returns what the authorization server says of itself, undefined for one that says nothing. One that a description
 * names has to speak as that one. Without a description the server's own origin speaks for it, and may name another
 * issuer, which is asked itself.
 */
async function metadataFor(
  server: string,
  issuer: string | undefined,
  fetch: Fetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const at = issuer ?? new URL('/', server).href
  requireSafe(server, at)
  const found = await metadataOf(at, fetch)
  if (found === undefined || isSame(found.issuer, at)) return found
  const named = issuer === undefined && parseUrl(found.issuer) ? found.issuer : undefined
  const own = named === undefined ? undefined : await metadataFor(server, named, fetch)
  if (own !== undefined) return own
  // Else a server could send a client to one place and have its code redeemed at another.
  throw new ParleyError('forbidden', `${new URL(at).host} speaks for another issuer; the login is not begun.`)
}

async function metadataOf(issuer: string, fetch: Fetch): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata } = await import('@modelcontextprotocol/sdk/client/auth.js')
  return discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch((error: unknown) => {
    throw toLoginError(error, new URL(issuer).host)
  })
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [one, other].map((address) => parseUrl(address)?.href.replace(/\/$/, ''))
  return left !== undefined && left === right
}

function requireSafe(server: string, address: string): void {
  const url = parseUrl(address)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isExempt(server, url))) return
  throw new ParleyError('forbidden', 'The server names an address for the login that is not protected by TLS.')
}
