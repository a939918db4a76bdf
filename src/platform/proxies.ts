import { BlockList, isIP } from 'node:net'
import { parseUrl } from '../core/parse-url.ts'

/** A proxy of the environment, which is asked for a tunnel (CONNECT) to every host that is reached through it. */
export interface NamedProxy {
  /** The variable that names it. */
  readonly variable: string
  /** Undefined: it is none by HTTP, and nothing is reached until that is mended. */
  readonly url: URL | undefined
}

/** A host that is to be reached: a name, or an address without brackets. */
export interface Target {
  readonly host: string
  readonly port: number
}

/** The variables for https (and wss), and for http, as other programs have them; the first that is set counts. */
const SECURE = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
const PLAIN = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The way out of this process, as everything that connects asks for it: like the waits of Node's own connections and
 * the dispatcher of its `fetch` it is one for the whole process, and is set before anything connects.
 */
let secure: NamedProxy | undefined
let plain: NamedProxy | undefined
let isDirect = (_target: Target): boolean => true

/** Takes the proxies over from the environment; returns what is doubtful there, in words without a password. */
export function readProxies(env: Environment): readonly string[] {
  secure = proxyIn(env, SECURE)
  plain = proxyIn(env, PLAIN)
  isDirect = withoutProxy(env.no_proxy ?? env.NO_PROXY ?? '')
  const broken = [secure, plain].filter((proxy) => proxy !== undefined && proxy.url === undefined)
  return [...new Set(broken.map((proxy) => `${noProxy(proxy)}; until then only what needs no proxy is reached`))]
}

/** Returns true where some hosts are reached through a proxy. */
export function isProxied(): boolean {
  return secure !== undefined || plain !== undefined
}

/** Returns the proxy for a URL; undefined for a host that is reached directly. */
export function proxyOf(url: Pick<URL, 'protocol' | 'hostname' | 'port'>): NamedProxy | undefined {
  const proxy = isSecure(url) ? secure : plain
  return proxy === undefined || isDirect(targetOf(url)) ? undefined : proxy
}

/** Returns true for the protocols under TLS. */
export function isSecure({ protocol }: Pick<URL, 'protocol'>): boolean {
  return protocol === 'https:' || protocol === 'wss:'
}

/** Returns the host and port of a URL. */
export function targetOf(url: Pick<URL, 'protocol' | 'hostname' | 'port'>): Target {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return { host, port: url.port === '' ? (isSecure(url) ? 443 : 80) : Number(url.port) }
}

function proxyIn(env: Environment, names: readonly string[]): NamedProxy | undefined {
  const variable = names.find((name) => env[name]?.trim())
  if (variable === undefined) return undefined
  const named = env[variable]?.trim().replace(/^(["'])(.*)\1$/, '$2') ?? ''
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`)
  return { variable, url: url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined }
}

/** Returns what to say of a proxy that is none. */
export function noProxy(proxy: Pick<NamedProxy, 'variable'> | undefined): string {
  return `${proxy?.variable} names no proxy by HTTP: write http://host:port`
}

/**
 * Reads NO_PROXY: names, each with all names below it (a leading dot or `*.` changes nothing), addresses, networks such
 * as 10.0.0.0/8, each perhaps with a port, and `*`. This machine itself is never asked for through a proxy, whose own
 * loopback is another one.
 */
function withoutProxy(list: string): (target: Target) => boolean {
  const networks = new BlockList()
  networks.addSubnet('127.0.0.0', 8, 'ipv4')
  networks.addAddress('::1', 'ipv6')
  const names: { readonly name: string; readonly port: number | undefined }[] = [{ name: 'localhost', port: undefined }]
  for (const entry of list.split(/[\s,]+/).filter(Boolean)) {
    const [, base = '', length] = /^\[?([\d.a-f:]+)\]?\/(\d{1,3})$/i.exec(entry) ?? []
    if (isIP(base) !== 0) addNetwork(networks, base, Number(length))
    else names.push(readName(entry))
  }
  return ({ host, port }) =>
    names.some((one) => (one.port ?? port) === port && isWithin(host, one.name)) ||
    (isIP(host) !== 0 && networks.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'))
}

function addNetwork(networks: BlockList, base: string, length: number): void {
  const family = isIP(base) === 6 ? 'ipv6' : 'ipv4'
  if (length <= (family === 'ipv6' ? 128 : 32)) networks.addSubnet(base, length, family)
}

function readName(entry: string): { readonly name: string; readonly port: number | undefined } {
  const [, host = entry, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? []
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/^\*?\./, '')
  return { name: name.toLowerCase(), port: port === undefined ? undefined : Number(port) }
}

function isWithin(host: string, name: string): boolean {
  return name === '*' || host === name || host.endsWith(`.${name}`)
}
