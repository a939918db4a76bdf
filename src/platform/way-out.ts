import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { BlockList, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher } from 'undici'
import { parseUrl } from '../core/parse-url.ts'
import { whyUnanswered } from '../core/wire-error.ts'

/** A proxy of the environment, which is asked for a tunnel (CONNECT) to every host that is reached through it. */
export interface Proxy {
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
let secure: Proxy | undefined
let plain: Proxy | undefined
let isDirect = (_target: Target): boolean => true
/** The library of the proxied dispatchers, which is loaded only where there is a proxy. */
let undici: typeof import('undici') | undefined

/** Takes the proxies over from the environment; returns what is doubtful there, in words without a password. */
export function readProxies(env: Environment): readonly string[] {
  secure = proxyIn(env, SECURE)
  plain = proxyIn(env, PLAIN)
  isDirect = withoutProxy(env.no_proxy ?? env.NO_PROXY ?? '')
  const broken = [secure, plain].filter((proxy) => proxy !== undefined && proxy.url === undefined)
  return [...new Set(broken.map((proxy) => `${noProxy(proxy)}; nothing is reached through it`))]
}

/** Has `fetch`, and every library that sends as it does, go through the proxies. To be called before the first call. */
export async function useProxies(): Promise<void> {
  if (!isProxied()) return
  // The bundle has no names but this one of a package that is loaded late.
  undici = (await import('undici')).default as typeof import('undici')
  undici.setGlobalDispatcher(new undici.Agent({ connect: throughProxy(undici.buildConnector({ allowH2: false })) }))
}

/** Returns true where some hosts are reached through a proxy. */
export function isProxied(): boolean {
  return secure !== undefined || plain !== undefined
}

/** Returns the proxy for a URL; undefined for a host that is reached directly. */
export function proxyOf(url: Pick<URL, 'protocol' | 'hostname' | 'port'>): Proxy | undefined {
  const proxy = isSecure(url) ? secure : plain
  return proxy === undefined || isDirect(targetOf(url)) ? undefined : proxy
}

function isSecure({ protocol }: Pick<URL, 'protocol'>): boolean {
  return protocol === 'https:' || protocol === 'wss:'
}

/** Returns the host and port of a URL. */
export function targetOf(url: Pick<URL, 'protocol' | 'hostname' | 'port'>): Target {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return { host, port: url.port === '' ? (isSecure(url) ? 443 : 80) : Number(url.port) }
}

function proxyIn(env: Environment, names: readonly string[]): Proxy | undefined {
  const variable = names.find((name) => env[name]?.trim())
  if (variable === undefined) return undefined
  const named = env[variable]?.trim().replace(/^(["'])(.*)\1$/, '$2') ?? ''
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`)
  return { variable, url: url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined }
}

function noProxy(proxy: Pick<Proxy, 'variable'> | undefined): string {
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

/** A proxy that did not lead to its target: nothing of a request has left. */
export class ProxyFailed extends Error {
  override readonly name = 'ProxyFailed'
  /** That of an error from before a connection stands. */
  readonly code = 'ECONNREFUSED'
}

const TUNNEL_WITHIN_MS = 15_000

/**
 * Opens a connection to a host through a proxy. Rejects with `ProxyFailed` in words that name the proxy and its
 * variable, and the remedy where it is known.
 */
export async function openTunnel(
  { url, variable }: Proxy,
  { host, port }: Target,
  signal?: AbortSignal,
): Promise<Socket> {
  if (url === undefined) throw new ProxyFailed(noProxy({ variable }))
  const at = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const name = `the proxy ${url.host} (${variable})`
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)({
    ...{ method: 'CONNECT', path: at, agent: false, timeout: TUNNEL_WITHIN_MS, ...(signal ? { signal } : {}) },
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
    headers: { host: at, ...authorization(url) },
  })
  const { status, socket } = await answerOf(request).catch((error: unknown) => {
    throw new ProxyFailed(`${name}: ${whyUnanswered(error)}`)
  })
  if (status >= 200 && status < 300) return socket
  socket.destroy()
  throw new ProxyFailed(`${name} answered ${status} when it was asked for ${at}${remedyFor(status, variable)}`)
}

function answerOf(request: ClientRequest): Promise<{ readonly status: number; readonly socket: Socket }> {
  return new Promise((resolve, reject) => {
    request.once('connect', ({ statusCode: status = 0 }, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      resolve({ status, socket })
    })
    request.once('response', (message) => {
      message.destroy()
      reject(new Error('it did not open a connection'))
    })
    request.once('timeout', () => request.destroy(new Error(`it did not answer within ${TUNNEL_WITHIN_MS / 1000} s`)))
    request.once('error', reject)
    request.end()
  })
}

function authorization({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '' && password === '') return {}
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(words).toString('base64')}` }
}

function remedyFor(status: number, variable: string): string {
  if (status === 407) return `: it wants a name and a password, as in ${variable}=http://name:password@host:port`
  if (status === 403) return ': it does not let this machine there'
  return ': it does not reach that host; a host of your own network belongs in NO_PROXY'
}

type Connector = ReturnType<typeof buildConnector>

/** Returns the connector of an undici agent that goes through the proxies; `connect` is the one for everything else. */
export function throughProxy(connect: Connector, opened?: (socket: Socket) => void): Connector {
  return (options, callback) => {
    const proxy = proxyOf(options)
    if (proxy === undefined) connect(options, callback)
    else tunnelled({ connect, proxy, target: targetOf(options), ...(opened ? { opened } : {}) }, options, callback)
  }
}

interface Tunnelled {
  readonly connect: Connector
  readonly proxy: Proxy
  /** The host that the proxy is asked for. */
  readonly target: Target
  opened?(this: void, socket: Socket): void
}

/** Connects as a connector does, over a tunnel to `target`, with TLS for the host of `options` where it is secure. */
export function tunnelled(
  { connect, proxy, target, opened }: Tunnelled,
  ...[options, callback]: Parameters<Connector>
): void {
  openTunnel(proxy, target).then(
    (socket) => {
      opened?.(socket)
      if (isSecure(options)) connect({ ...options, httpSocket: socket }, callback)
      else callback(null, socket)
    },
    (error: Error) => callback(error, null),
  )
}

/**
 * Returns a dispatcher for one connection that a library opens, and calls `opened` with its socket; undefined where
 * nothing goes through a proxy.
 */
export function proxyDispatcher(opened: (socket: Socket) => void): Dispatcher | undefined {
  return undici && new undici.Agent({ connect: throughProxy(undici.buildConnector({ allowH2: false }), opened) })
}

type Created = NonNullable<Parameters<HttpAgent['createConnection']>[1]>
type Connecting = Parameters<HttpAgent['createConnection']>[0]

/** An agent of node:http whose connections go through the proxies. */
export class PlainAgent extends HttpAgent {
  override createConnection(options: Connecting, created?: Created): Duplex | null | undefined {
    const url = urlOf('http:', options)
    const proxy = proxyOf(url)
    if (proxy === undefined || created === undefined) return super.createConnection(options, created)
    openTunnel(proxy, targetOf(url)).then(
      (socket) => created(null, socket),
      (error) => created(error, NONE),
    )
    return undefined
  }
}

/** An agent of node:https whose connections go through the proxies. */
export class SecureAgent extends HttpsAgent {
  override createConnection(options: Connecting, created?: Created): Duplex | null | undefined {
    const url = urlOf('https:', options)
    const proxy = proxyOf(url)
    if (proxy === undefined || created === undefined) return super.createConnection(options, created)
    const failed = (error: Error): void => created(error, NONE)
    openTunnel(proxy, targetOf(url)).then((socket) => {
      const secured = super.createConnection({ ...options, socket } as Connecting)
      // It is handed on once it is encrypted: until then nothing of a request has left.
      secured?.once('error', failed)
      secured?.once('secureConnect', () => {
        secured.off('error', failed)
        created(null, secured)
      })
    }, failed)
    return undefined
  }
}

/** There is no connection beside an error; Node types one. */
const NONE = undefined as unknown as Duplex

function urlOf(protocol: string, { host, port }: { host?: unknown; port?: unknown }): Parameters<typeof proxyOf>[0] {
  return { protocol, hostname: String(host ?? 'localhost'), port: String(port ?? '') }
}
