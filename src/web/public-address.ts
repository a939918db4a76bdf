import ipaddr from 'ipaddr.js'
import { ParleyError } from '../core/errors.ts'
import { parseUrl } from '../core/parse-url.ts'

/** The part of IPv6 that is given out for the public net; whatever lies outside of it is for something else. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3')
/** Kept for protocols: Teredo, ORCHID, benchmarks. No host of the public net has an address in it. */
const PROTOCOLS_V6 = ipaddr.parseCIDR('2001::/23')
/** The well-known prefix with which a network that speaks only IPv6 writes the IPv4 addresses of the public net. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * Addresses that look public and lead to services of the host of a rented machine: Azure, Equinix, and the networks
 * for services of IBM.
 */
const OF_HOSTS = ['168.63.129.16/32', '192.80.8.124/32', '161.26.0.0/16', '166.8.0.0/14'].map((one) =>
  ipaddr.parseCIDR(one),
)

/** Names that never belong to a host of the public net, each with all names below it. */
const LOCAL_NAMES: ReadonlySet<string> = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'arpa'],
  ...['test', 'invalid', 'onion', 'alt'],
])

const LONGEST = 8_000

/**
 * Returns true for the address of a host of the public net. Loopback, private, link-local and shared addresses, those
 * for documents, benchmarks and groups, those of the host of a rented machine, and those that carry an IPv4 address
 * within them are none; the one exception is NAT64, which is judged by what it carries.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = carried(address)
  if (parsed instanceof ipaddr.IPv4)
    return parsed.range() === 'unicast' && !OF_HOSTS.some((range) => parsed.match(range))
  if (parsed.zoneId !== undefined && parsed.zoneId !== '') return false
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_V6) && !parsed.match(PROTOCOLS_V6)
}

/** Returns the address, of one of NAT64 the one that it carries. */
function carried(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv4 || !parsed.match(NAT64)) return parsed
  return ipaddr.IPv4.parse(parsed.toByteArray().slice(-4).join('.'))
}

/** Returns true where an address is one of this machine's own, however it is written. */
export function isAmong(address: string, own: readonly string[]): boolean {
  const name = carried(address).toNormalizedString()
  return own.some((one) => ipaddr.isValid(one) && carried(one.replace(/%.*$/, '')).toNormalizedString() === name)
}

/**
 * Returns an address of the public net as a URL without its fragment. Throws `invalid` for what is no web address or
 * hides its host in another way of writing it, so that whoever is asked about it reads where it leads, and `forbidden`
 * for one that leads elsewhere by its words alone. The names that remain are judged by what they resolve to.
 */
export function readPublicUrl(text: string): URL {
  const url = readWebUrl(text)
  const host = hostOf(url)
  if (ipaddr.isValid(host) ? !isPublicAddress(host) : isLocalName(host)) throw notPublic(url)
  const written = `${url.protocol}//${url.host}`
  if (!text.toLowerCase().startsWith(written))
    throw new ParleyError('invalid', `The address must begin with ${written} for this host.`)
  return url
}

function isLocalName(host: string): boolean {
  const labels = host.split('.')
  return labels.length < 2 || host.endsWith('.') || LOCAL_NAMES.has(labels.at(-1) ?? '')
}

/** Returns a web address as a URL without its fragment, wherever it leads. Throws `invalid`. */
export function readWebUrl(text: string): URL {
  const url = text.length <= LONGEST ? parseUrl(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ParleyError('invalid', 'The address must begin with https:// or http:// and name a host.')
  if (url.username !== '' || url.password !== '')
    throw new ParleyError('invalid', 'An address with a name or password in it is not fetched; leave them out.')
  url.hash = ''
  return url
}

/** Returns the host as it is connected to: an address without brackets, or a name. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

export function notPublic({ host }: Pick<URL, 'host'>): ParleyError {
  return new ParleyError(
    'forbidden',
    `${host} is not on the public net. Addresses of this machine and of private networks are never fetched.`,
  )
}
