import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { ApiSettings } from '../../src/config/config.ts'
import type { NewToken } from '../../src/core/operate-tokens.ts'
import type { Scope } from '../../src/core/token.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is a text. */
  readonly body?: unknown
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The text as JSON; undefined where it is none. */
  readonly json: unknown
}

/** A household whose API is asked over TCP. */
export interface ApiHouse extends Household {
  readonly log: AwaitedLog
  /** The port on which the API listens now. */
  port(): number
  /** Makes a token and returns the headers that bring it. */
  bearer(request: NewToken): Promise<{ readonly id: string; readonly headers: { readonly authorization: string } }>
  ask(path: string, asked?: Asked): Promise<Answered>
}

export interface ApiHouseOptions extends Omit<HouseholdOptions, 'logger'> {
  readonly http?: Partial<ApiSettings>
}

/** Starts a household with `http`; what it stores, logs and answers is that of a real daemon. */
export async function startApiHouse({ http: further, ...options }: ApiHouseOptions = {}): Promise<ApiHouse> {
  const log = new AwaitedLog()
  const http = { host: '127.0.0.1', port: 0, hosts: [], origins: ['https://app.example.org'], ...further }
  // Whoever a client speaks for may talk to the agent.
  const routing = { access: { direct: 'public', groups: [] } as const, ...options.routing }
  const house = await startHousehold({ ...options, routing, logger: log, config: { http, ...options.config } })
  const port = (): number => Number(log.lines.findLast(({ sentence }) => sentence === 'The API is up')?.fields.port)
  return {
    ...house,
    get daemon() {
      return house.daemon
    },
    get config() {
      return house.config
    },
    log,
    port,
    async bearer(request) {
      const { id, token } = await house.daemon.operator.tokens.create(request)
      return { id, headers: { authorization: `Bearer ${token}` } }
    },
    ask: (path, asked) => ask(port(), path, asked),
  }
}

/** Returns the headers of a new token with these scopes: of a namespace, or of an owner. */
export async function tokenWith(
  { bearer }: Pick<ApiHouse, 'bearer'>,
  scopes: readonly Scope[],
  namespace?: string,
): Promise<Readonly<Record<string, string>>> {
  const { headers } = await bearer({ scopes, ...(namespace === undefined ? { owner: true } : { namespace }) })
  return headers
}

/** Sends one request over a connection of its own. */
export async function ask(port: number, path: string, { method, headers = {}, body }: Asked = {}): Promise<Answered> {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const verb = method ?? (sent === undefined ? 'GET' : 'POST')
  const length = sent === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent)) }
  const all = { ...length, ...headers }
  const call = request({ host: '127.0.0.1', port, path, method: verb, headers: all, agent: false })
  call.end(sent)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
