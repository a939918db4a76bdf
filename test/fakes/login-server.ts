import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** What the server does otherwise than a good one. */
export interface LoginQuirks {
  /** Instead of its description, or of that of its authorization server. */
  readonly resource?: Quirk
  readonly metadata?: Quirk
  /** It asks for a login and describes nothing. */
  readonly bare?: true
  /** It knows no client that it was not told of. */
  readonly registered?: string
  /** Instead of an answer at its token endpoint. */
  readonly token?: Quirk
  /** The result of its tool. */
  readonly says?: (authorization: string) => string
  /** Seconds for which a token is good. */
  readonly expiresIn?: number
  /** Only these requests need a login; the others are answered to anybody, within a session. */
  readonly asksAt?: 'tools/list' | 'tools/call' | 'nothing'
  /** Its refusal of whoever is not logged in; undefined: 401 with the scope `read`. */
  readonly refusal?: (origin: string) => Refusal
  /** The scope that a call of a tool needs beside a login, and whether its refusal names it. */
  readonly needs?: Readonly<Record<string, string>>
  readonly hidesScope?: true
  /** The error of its token endpoint for a request that names the resource. */
  readonly refusesResource?: string
  /** The scopes that are granted if they are asked for; absent: `read`, whatever is asked for. */
  readonly grants?: readonly string[]
  /** The answer to whatever asks for this path, a JSON value or a text that is none. */
  readonly at?: Readonly<Record<string, Quirk>>
  /** Further fields of what the authorization server says of itself. */
  readonly metadataMore?: Readonly<Record<string, unknown>>
  /** The answer of its token endpoint in the form in which it gives a good one. */
  readonly given?: (good: Readonly<Record<string, unknown>>) => ReturnType<Quirk>
  /** Further fields of its answer to a registration. */
  readonly registeredMore?: Readonly<Record<string, unknown>>
  /** Clients that come back to an address without this are not registered. */
  readonly comesBackTo?: string
}

interface Refusal {
  readonly status?: number
  readonly challenge?: string
  readonly body?: unknown
}

type Quirk = (
  origin: string,
  body: string,
) => { readonly status?: number; readonly location?: string; readonly body?: unknown; readonly text?: string }

/** A tool server with a login and its authorization server, on one port: a code for whoever asks, tokens that turn. */
export interface LoginServer {
  readonly origin: string
  readonly url: string
  /** Every request, as `POST /token`. */
  readonly requests: string[]
  /** The refresh tokens that were used, in their order. */
  readonly refreshed: string[]
  /** The methods of the protocol that were asked for. */
  readonly methods: string[]
  /** The clients as they have asked to be registered. */
  readonly registrations: Readonly<Record<string, unknown>>[]
  readonly secrets: ReadonlySet<string>
  /** Every access token is worth nothing from now on. */
  expire(): void
  /** Every refresh token too. */
  revoke(): void
  /** No client is known any more. */
  forget(): void
  /** Opens what a person would open in a browser; returns where the browser is sent, which it does not visit. */
  visit(open: string): Promise<string>
}

export async function startLoginServer(quirks: LoginQuirks = {}): Promise<LoginServer> {
  const made = new State(quirks)
  const server = createServer((request, response) => void made.answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  made.origin = `http://127.0.0.1:${address.port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(made, { url: `${made.origin}/mcp` })
}

class State {
  origin = ''
  readonly requests: string[] = []
  readonly refreshed: string[] = []
  readonly methods: string[] = []
  readonly registrations: Readonly<Record<string, unknown>>[] = []
  readonly secrets = new Set<string>()
  readonly #quirks: LoginQuirks
  readonly #clients = new Set<string>()
  readonly #codes = new Map<string, URLSearchParams>()
  /** The scopes of each token. */
  readonly #access = new Map<string, string>()
  readonly #refresh = new Map<string, string>()
  #times = 0

  constructor(quirks: LoginQuirks) {
    this.#quirks = quirks
    if (quirks.registered !== undefined) this.#clients.add(quirks.registered)
  }

  expire(): void {
    this.#access.clear()
  }

  revoke(): void {
    this.#access.clear()
    this.#refresh.clear()
  }

  forget(): void {
    this.#clients.clear()
  }

  async visit(open: string): Promise<string> {
    const answer = await fetch(open, { redirect: 'manual' })
    return answer.headers.get('location') ?? `${answer.status} ${await answer.text()}`
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin)
    this.requests.push(`${request.method} ${url.pathname}`)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const [status, value, headers] = this.#route(url, body, request)
    const text = value === undefined ? '' : value instanceof Page ? value.text : JSON.stringify(value)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

  #route(url: URL, body: string, request: IncomingMessage): Answer {
    const { resource, metadata, token, bare, at } = this.#quirks
    const own = at?.[url.pathname]
    if (own !== undefined) return strange(own(this.origin, body))
    switch (url.pathname) {
      case '/mcp':
        return this.#mcp(body, request)
      case '/.well-known/oauth-protected-resource/mcp':
        if (bare) return [404]
        return resource
          ? strange(resource(this.origin, body))
          : [200, { resource: `${this.origin}/mcp`, authorization_servers: [this.origin] }]
      case '/.well-known/oauth-authorization-server':
        if (bare) return [404]
        return metadata ? strange(metadata(this.origin, body)) : [200, metadataOf(this.origin, this.#quirks)]
      case '/register':
        return this.#register(body)
      case '/authorize':
        return this.#authorize(url.searchParams)
      case '/token':
        return token ? strange(token(this.origin, body)) : this.#token(new URLSearchParams(body))
      case '/revoke':
        return [this.#refresh.delete(new URLSearchParams(body).get('token') ?? '') ? 200 : 400, {}]
      default:
        return [404]
    }
  }

  #register(body: string): Answer {
    const { registered, comesBackTo = '' } = this.#quirks
    if (registered !== undefined) return [404]
    const asked = JSON.parse(body) as Readonly<Record<string, unknown>>
    this.registrations.push(asked)
    if (!String(asked.redirect_uris).includes(comesBackTo)) return [400, { error: 'invalid_redirect_uri' }]
    const client_id = randomUUID()
    this.#clients.add(client_id)
    const client = { client_id, redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }
    return [201, { ...client, ...this.#quirks.registeredMore }]
  }

  #authorize(asked: URLSearchParams): Answer {
    if (!this.#clients.has(asked.get('client_id') ?? '')) return [400, 'no such client']
    const code = this.#secret('code')
    this.#codes.set(code, asked)
    const back = new URL(asked.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', asked.get('state') ?? '')
    return [302, undefined, { location: back.href }]
  }

  #token(given: URLSearchParams): Answer {
    const { refusesResource: refused } = this.#quirks
    if (refused !== undefined && given.has('resource')) return [400, { error: refused }]
    if (!this.#clients.has(given.get('client_id') ?? '')) return [401, { error: 'invalid_client' }]
    if (given.get('grant_type') === 'refresh_token') {
      const used = given.get('refresh_token') ?? ''
      this.refreshed.push(used)
      const scope = this.#refresh.get(used)
      // A token that is used twice was stolen, as far as the server knows: the login is over.
      if (scope === undefined) {
        this.revoke()
        return [400, { error: 'invalid_grant', error_description: `no such token: ${used}` }]
      }
      this.#refresh.delete(used)
      return this.#grant(scope)
    }
    const asked = this.#codes.get(given.get('code') ?? '')
    this.#codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    const right = asked?.get('code_challenge') === challenge && asked.get('redirect_uri') === given.get('redirect_uri')
    if (!right) return [400, { error: 'invalid_grant' }]
    const scopes = asked.get('scope')?.split(' ') ?? []
    return this.#grant(this.#quirks.grants?.filter((one) => scopes.includes(one)).join(' ') ?? 'read')
  }

  #grant(scope: string): Answer {
    const [access_token, refresh_token] = [this.#secret('access'), this.#secret('refresh')]
    this.#access.set(access_token, scope)
    this.#refresh.set(refresh_token, scope)
    const { expiresIn: expires_in = 3_600 } = this.#quirks
    const good = { access_token, refresh_token, token_type: 'Bearer', expires_in, scope }
    return strange(this.#quirks.given?.(good) ?? { body: good })
  }

  #mcp(body: string, { headers }: IncomingMessage): Answer {
    if (body === '') return [405]
    const asked = JSON.parse(body) as Asked
    this.methods.push(asked.method)
    const { authorization = '' } = headers
    const scopes = this.#access.get(authorization.replace(/^Bearer /, ''))
    if (this.#quirks.asksAt !== undefined && asked.method !== 'initialize' && headers['mcp-session-id'] !== SESSION)
      return [400]
    return this.#refuse(asked, scopes) ?? this.#reply(asked, authorization)
  }

  #refuse({ method, params }: Asked, scopes: string | undefined): Answer | undefined {
    const { asksAt = method, refusal, needs, hidesScope } = this.#quirks
    if (scopes === undefined && asksAt === method) {
      const { status = 401, challenge, body } = refusal?.(this.origin) ?? { challenge: 'Bearer scope="read"' }
      return [status, body, challenge === undefined ? {} : { 'www-authenticate': challenge }]
    }
    const needed = method === 'tools/call' ? needs?.[params?.name ?? ''] : undefined
    if (needed === undefined || scopes?.split(' ').includes(needed)) return undefined
    return [403, undefined, { 'www-authenticate': insufficient(hidesScope ? undefined : needed) }]
  }

  #reply({ id, method, params }: Asked, authorization: string): Answer {
    const reply = (result: unknown): Answer => [200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': SESSION }]
    if (method === 'initialize') {
      const serverInfo = { name: 'login', version: '1' }
      return reply({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo })
    }
    const tools = ['who', ...Object.keys(this.#quirks.needs ?? {})]
    if (method === 'tools/list')
      return reply({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) })
    if (method !== 'tools/call') return [202]
    return reply({ content: [{ type: 'text', text: this.#quirks.says?.(authorization) ?? 'ada' }] })
  }

  #secret(kind: string): string {
    const made = `${kind}-${this.#times++}-${randomUUID()}`
    this.secrets.add(made)
    return made
  }
}

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string }
}

const SESSION = 'session-1'

function insufficient(scope: string | undefined): string {
  return `Bearer error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`
}

/** A body that is no JSON. */
class Page {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Answer = readonly [status: number, body?: unknown, headers?: Readonly<Record<string, string>>]

function strange({ status = 200, location, body, text }: ReturnType<Quirk>): Answer {
  if (text !== undefined) return [status, new Page(text), { 'content-type': 'text/html' }]
  return location === undefined ? [status, body] : [302, undefined, { location }]
}

export function metadataOf(
  origin: string,
  { registered, metadataMore }: LoginQuirks = {},
): Readonly<Record<string, unknown>> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    revocation_endpoint: `${origin}/revoke`,
    ...(registered === undefined ? { registration_endpoint: `${origin}/register` } : {}),
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    ...metadataMore,
  }
}
