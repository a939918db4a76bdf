import { parseUrl } from '../../core/parse-url.ts'

/** The demand of a tool server in a refusal: for a login, or for a further scope of the login that was used. */
export interface Challenge {
  readonly kind: 'login' | 'scope'
  /** The address at which the server says that it is described. */
  readonly resourceMetadata?: string
  /** The scopes that the refused request needs, divided by spaces. */
  readonly scope?: string
}

const MOST_HEADER = 8_192
const MOST_ADDRESS = 2_000
const MOST_SCOPES = 1_000
/** The letters that OAuth allows in scopes. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/
/** A scheme, or a parameter with its value: in quotes of either kind, or plain. */
const PART = /([\w!#$%&*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,"]*)))?/g

/**
 * Returns what the server at `url` asks for in this answer; undefined for any other answer. `loggedIn`: a token was
 * sent. Servers ask by 401, with or without a challenge; some by 400 or 403 with the code of an invalid token.
 */
export function challengeIn({ status, headers }: Response, url: string, loggedIn: boolean): Challenge | undefined {
  if (status !== 401 && status !== 403 && status !== 400) return undefined
  const bearer = bearerIn(headers.get('www-authenticate') ?? '')
  const error = bearer?.get('error')
  const asked = { ...addressOf(bearer?.get('resource_metadata'), url), ...scopesOf(bearer?.get('scope')) }
  if (loggedIn && status !== 400 && error === 'insufficient_scope') return { kind: 'scope', ...asked }
  if (status === 401 || error === 'invalid_token') return { kind: 'login', ...asked }
  return status === 403 && !loggedIn && bearer !== undefined ? { kind: 'login', ...asked } : undefined
}

/** Returns the parameters of the Bearer challenge among all that one header may hold; of two alike the first counts. */
function bearerIn(header: string): ReadonlyMap<string, string> | undefined {
  let bearer: Map<string, string> | undefined
  let isBearer = false
  for (const [part, name = '', quoted, single, plain] of header.slice(0, MOST_HEADER).matchAll(PART)) {
    if (part === name) {
      isBearer = name.toLowerCase() === 'bearer'
      if (isBearer) bearer ??= new Map()
      continue
    }
    const value = quoted?.replace(/\\(.)/g, '$1') ?? single ?? plain ?? ''
    if (isBearer && bearer?.has(name.toLowerCase()) === false) bearer.set(name.toLowerCase(), value)
  }
  return bearer
}

function addressOf(value: string | undefined, url: string): Pick<Challenge, 'resourceMetadata'> {
  if (value === undefined || value === '' || value.length > MOST_ADDRESS) return {}
  const address = parseUrl(value, url)
  return address === undefined ? {} : { resourceMetadata: address.href }
}

function scopesOf(value: string | undefined): Pick<Challenge, 'scope'> {
  const scope = value?.trim().replace(/\s+/g, ' ') ?? ''
  return scope.length <= MOST_SCOPES && SCOPES.test(scope) ? { scope } : {}
}

/**
 * Returns true for an address that belongs to what the operator wrote: the origin of the server itself, and for a
 * server on this machine others on this machine. Whatever else a server names is checked like any address of the net.
 */
export function isExempt(server: string, url: URL): boolean {
  const own = new URL(server)
  return url.origin === own.origin || (isLoopback(own) && isLoopback(url))
}

/** Returns true for an address of this machine by its words. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
