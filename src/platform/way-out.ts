import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { unescape as percentDecoded } from 'node:querystring'
import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher } from 'undici'
import { whyUnanswered } from '../core/wire-error.ts'
import { isProxied, isSecure, type NamedProxy, noProxy, proxyOf, type Target, targetOf } from './proxies.ts'

/** The library of the proxied dispatchers, which is loaded only where there is a proxy. */
let undici: typeof import('undici') | undefined

/** Has `fetch`, and every library that sends as it does, go through the proxies. To be called before the first call. */
export async function useProxies(): Promise<void> {
  if (!isProxied()) return
  // The bundle has no names but this one of a package that is loaded late.
  undici = (await import('undici')).default as typeof import('undici')
  undici.setGlobalDispatcher(new undici.Agent({ connect: throughProxy(undici.buildConnector({ allowH2: false })) }))
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
  { url, variable }: NamedProxy,
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
  // A password may have a `%` that begins no code.
  const words = `${percentDecoded(username)}:${percentDecoded(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(words).toString('base64')}` }
}

function remedyFor(status: number, variable: string): string {
  if (status === 407) return `: it wants a name and a password, as in ${variable}=http://name:password@host:port`
  if (status === 403) return ': it does not let this machine there'
  return ': it does not reach that host; a host of your own network belongs in NO_PROXY'
}

type Connector = ReturnType<typeof buildConnector>

interface Tunnelling {
  /** Returns the name or the address that a proxy is asked for in place of a host; the host itself by default. */
  asked?(this: void, host: string): Promise<string>
  /** Called with each socket that was opened through a proxy. */
  opened?(this: void, socket: Socket): void
}

/** Returns the connector of an undici agent that goes through the proxies; `connect` is the one for everything else. */
export function throughProxy(connect: Connector, { asked = itself, opened }: Tunnelling = {}): Connector {
  return (options, callback) => {
    const proxy = proxyOf(options)
    if (proxy === undefined) return connect(options, callback)
    const { host, port } = targetOf(options)
    asked(host)
      .then((there) => openTunnel(proxy, { host: there, port }))
      .then(
        (socket) => {
          opened?.(socket)
          if (isSecure(options)) connect({ ...options, httpSocket: socket }, callback)
          else callback(null, socket)
        },
        (error: Error) => callback(error, null),
      )
  }
}

const itself = async (host: string): Promise<string> => host

/**
 * Returns a dispatcher for one connection that a library opens, and calls `opened` with its socket; undefined where
 * nothing goes through a proxy.
 */
export function proxyDispatcher(opened: (socket: Socket) => void): Dispatcher | undefined {
  return undici && new undici.Agent({ connect: throughProxy(undici.buildConnector({ allowH2: false }), { opened }) })
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
