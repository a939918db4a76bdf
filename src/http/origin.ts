import { isIPv6 } from 'node:net'
import { cutText } from '../core/cut-text.ts'
import { ParleyError } from '../core/errors.ts'

/** The names under which the API may be asked for, and the pages that may ask for it. */
export interface AllowedOrigins {
  /** `name:port`, in lower case; a browser that was led here by another name sends that one. */
  readonly hosts: ReadonlySet<string>
  /** `https://name`, besides pages of the API itself. */
  readonly origins: ReadonlySet<string>
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const HTTP_PORT = 80
const HTTPS_PORT = 443

/**
 * Returns the hosts that reach a server bound to this address, and those that the operator names. A name without a port
 * stands for that of the server as well, as a client in a container asks for it.
 */
export function allowedHosts(
  { host, port }: { readonly host: string; readonly port: number },
  named: readonly string[],
): ReadonlySet<string> {
  const own = [...LOOPBACK, isIPv6(host) ? `[${host}]` : host].map((name) => `${name.toLowerCase()}:${port}`)
  return new Set([...own, ...named.map((name) => name.toLowerCase()).flatMap((name) => [name, `${name}:${port}`])])
}

/**
 * Throws `forbidden` for a request that was sent to another name, as a page does that lets its own name point here, or
 * by a page of somebody else (F-K02, F-K03); and `invalid` for a token in the address, where logs would keep it
 * (F-K04).
 */
export function checkOrigin({ url, headers }: Request, { hosts, origins }: AllowedOrigins): void {
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (!hosts.has(host) && !hosts.has(withoutPort(host)))
    throw new ParleyError('forbidden', `The name ${shown(host)} is not one of http.hosts: add it there.`)
  const origin = headers.get('origin')
  if (origin !== null && !origins.has(origin) && !isOwn(origin, host))
    throw new ParleyError('forbidden', `The page ${shown(origin)} is not one of http.origins: add it there.`)
  if (readings(url).some((read) => TOKEN.test(read)))
    throw new ParleyError('invalid', 'A token belongs into the header Authorization, not into the address.')
}

/** No name of a host is longer. */
const LONGEST_NAME = 253

function shown(name: string): string {
  return JSON.stringify(cutText(name, LONGEST_NAME))
}

const TOKEN = /ply_[0-9a-f]{12}_|[?&](access_)?token=/i

/** The times that a proxy may have encoded an address. */
const MOST_ENCODED = 3

/** Returns an address as it stands and as it is decoded: encoded, a token would be as readable in a log. */
function readings(url: string): readonly string[] {
  const all = [url]
  for (let at = 0; at < MOST_ENCODED && all[at]?.includes('%'); at++) all.push(decoded(all[at] ?? ''))
  return all
}

/** Decodes ASCII alone: a token has nothing else. */
function decoded(url: string): string {
  return url.replace(/%[2-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

/** A name in `http.hosts` without a port stands for the usual ones, which a browser leaves out. */
function withoutPort(host: string): string {
  return host.replace(new RegExp(`:(${HTTP_PORT}|${HTTPS_PORT})$`), '')
}

function isOwn(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
