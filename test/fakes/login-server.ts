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
}

type Quirk = (origin: string) => { readonly status?: number; readonly location?: string; readonly body?: unknown }

/** A tool server with a login and its authorization server, on one port: a code for whoever asks, tokens that turn. */
export interface LoginServer {
  readonly origin: string
  readonly url: string
  /** Every request, as `POST /token`. */
  readonly requests: string[]
  /** The refresh tokens that were used, in their order. */
  readonly refreshed: string[]
  readonly secrets: ReadonlySet<string>
  /** Every access token is worth nothing from now on. */
  expire(): void
  /** Every refresh token too. */
  revoke(): void
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
  readonly secrets = new Set<string>()
  readonly #quirks: LoginQuirks
  readonly #clients = new Set<string>()
  readonly #codes = new Map<string, URLSearchParams>()
  readonly #access = new Set<string>()
  readonly #refresh = new Set<string>()
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

  async visit(open: string): Promise<string> {
    const answer = await fetch(open, { redirect: 'manual' })
    return answer.headers.get('location') ?? `${answer.status} ${await answer.text()}`
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin)
    this.requests.push(`${request.method} ${url.pathname}`)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const [status, value, headers] = this.#route(url, body, request.headers.authorization)
    const text = value === undefined ? '' : JSON.stringify(value)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

  #route(url: URL, body: string, authorization: string | undefined): Answer {
    const { resource, metadata, token, bare } = this.#quirks
    switch (url.pathname) {
      case '/mcp':
        return this.#mcp(body, authorization)
      case '/.well-known/oauth-protected-resource/mcp':
        if (bare) return [404]
        return resource
          ? strange(resource(this.origin))
          : [200, { resource: `${this.origin}/mcp`, authorization_servers: [this.origin] }]
      case '/.well-known/oauth-authorization-server':
        if (bare) return [404]
        return metadata ? strange(metadata(this.origin)) : [200, metadataOf(this.origin, this.#quirks)]
      case '/register':
        return this.#register()
      case '/authorize':
        return this.#authorize(url.searchParams)
      case '/token':
        return token ? strange(token(this.origin)) : this.#token(new URLSearchParams(body))
      case '/revoke':
        return [this.#refresh.delete(new URLSearchParams(body).get('token') ?? '') ? 200 : 400, {}]
      default:
        return [404]
    }
  }

  #register(): Answer {
    if (this.#quirks.registered !== undefined) return [404]
    const client_id = randomUUID()
    this.#clients.add(client_id)
    return [201, { client_id, redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }]
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
    if (given.get('grant_type') === 'refresh_token') {
      const used = given.get('refresh_token') ?? ''
      this.refreshed.push(used)
      // A token that is used twice was stolen, as far as the server knows: the login is over.
      if (!this.#refresh.delete(used)) {
        this.revoke()
        return [400, { error: 'invalid_grant', error_description: `no such token: ${used}` }]
      }
      return this.#grant()
    }
    const asked = this.#codes.get(given.get('code') ?? '')
    this.#codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    const right = asked?.get('code_challenge') === challenge && asked.get('redirect_uri') === given.get('redirect_uri')
    return right ? this.#grant() : [400, { error: 'invalid_grant' }]
  }

  #grant(): Answer {
    const [access_token, refresh_token] = [this.#secret('access'), this.#secret('refresh')]
    this.#access.add(access_token)
    this.#refresh.add(refresh_token)
    const { expiresIn: expires_in = 3_600 } = this.#quirks
    return [200, { access_token, refresh_token, token_type: 'Bearer', expires_in, scope: 'read' }]
  }

  #mcp(body: string, authorization = ''): Answer {
    if (!this.#access.has(authorization.replace(/^Bearer /, '')))
      return [401, undefined, { 'www-authenticate': 'Bearer scope="read"' }]
    if (body === '') return [405]
    const { id, method, params } = JSON.parse(body) as {
      id?: number
      method: string
      params?: { protocolVersion: string }
    }
    const reply = (result: unknown): Answer => [200, { jsonrpc: '2.0', id, result }]
    if (method === 'initialize') {
      const serverInfo = { name: 'login', version: '1' }
      return reply({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo })
    }
    if (method === 'tools/list') return reply({ tools: [{ name: 'who', inputSchema: { type: 'object' } }] })
    if (method !== 'tools/call') return [202]
    return reply({ content: [{ type: 'text', text: this.#quirks.says?.(authorization) ?? 'ada' }] })
  }

  #secret(kind: string): string {
    const made = `${kind}-${this.#times++}-${randomUUID()}`
    this.secrets.add(made)
    return made
  }
}

type Answer = readonly [status: number, body?: unknown, headers?: Readonly<Record<string, string>>]

function strange({ status = 200, location, body }: ReturnType<Quirk>): Answer {
  return location === undefined ? [status, body] : [302, undefined, { location }]
}

export function metadataOf(origin: string, { registered }: LoginQuirks = {}): Readonly<Record<string, unknown>> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    revocation_endpoint: `${origin}/revoke`,
    ...(registered === undefined ? { registration_endpoint: `${origin}/register` } : {}),
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  }
}
