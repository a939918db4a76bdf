import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import type { Caller } from '../core/caller.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { ApiService } from '../core/operator.ts'
import type { TokenHolder } from '../core/token.ts'
import { TooManyRequests } from './errors.ts'
import type { ApiGuard } from './gate.ts'
import { type AllowedOrigins, checkOrigin } from './origin.ts'

export interface TokenGuardDeps {
  readonly clock: Clock
  readonly allowed: AllowedOrigins
  /** Returns who brings a token; undefined for one that opens nothing. */
  verify(token: string): Promise<TokenHolder | undefined>
  /** Returns the answers for whoever asks. */
  apiOf(caller: Caller): ApiService
  /** Called with the connection of whoever is known by now. */
  known(socket: Socket): void
  /** Called with the connection of somebody who may ask without saying who they are. */
  asks(socket: Socket, answer: ServerResponse): void
  /** The most connections of the server. */
  readonly connections: number
  /** The most requests of one token in a minute. */
  readonly requestsPerMinute: number
}

/** Wrong tokens from one address within a minute; whoever brings more there has to wait. A right one still opens. */
const MOST_WRONG = 20
const WINDOW_MS = 60_000
/** Addresses that are remembered; the one that was wrong longest ago is forgotten. */
const ADDRESSES = 10_000

/** Somebody who brings no token. */
const UNKNOWN: Caller = { kind: 'person', role: 'guest' }

/** Returns the guard of a server that anybody can reach: only a valid token says who asks. */
export function createTokenGuard({
  clock,
  allowed,
  verify,
  apiOf,
  known,
  asks,
  connections,
  requestsPerMinute,
}: TokenGuardDeps): ApiGuard {
  const hold = boundHolders(connections)
  const pace = createPace(clock, requestsPerMinute)
  const wrong = new Map<string, { since: number; count: number }>()

  function noteWrong(address: string): void {
    const now = clock.elapsed()
    const before = wrong.get(address)
    const window = before !== undefined && now - before.since < WINDOW_MS ? before : { since: now, count: 0 }
    window.count++
    wrong.delete(address)
    wrong.set(address, window)
    const [oldest] = wrong.keys()
    if (wrong.size > ADDRESSES && oldest !== undefined) wrong.delete(oldest)
    if (window.count > MOST_WRONG)
      throw new TooManyRequests(
        'Too many requests without a valid token came from this address; wait a minute.',
        Math.ceil((window.since + WINDOW_MS - now) / 1_000),
      )
  }

  return {
    pages: allowed.origins,
    check: (request) => checkOrigin(request, allowed),
    async identify({ req, env }) {
      const { socket } = (env as HttpBindings).incoming
      const holder = await verify(tokenOf(req.header('authorization')))
      if (holder === undefined) {
        // No header that names another address is believed (F-K06).
        noteWrong(socket.remoteAddress ?? '')
        throw new ParleyError('unauthorized', 'Send a valid token: Authorization: Bearer <token>.')
      }
      const { id, caller, scopes, ended } = holder
      hold({ id, caller }, socket)
      known(socket)
      pace(id)
      return { api: apiOf(caller), scopes, ended, holder: id, shared: caller.kind === 'token' }
    },
    unknown({ req, env }) {
      if (req.header('authorization') !== undefined) return undefined
      const { incoming, outgoing } = env as HttpBindings
      asks(incoming.socket, outgoing as ServerResponse)
      return { api: apiOf(UNKNOWN), scopes: new Set() }
    },
    refused: ({ env }) => noteWrong((env as HttpBindings).incoming.socket.remoteAddress ?? ''),
  }
}

/** One token has a third of all connections at most: room for its streams (`MOST_STREAMS`) and for its requests. */
const SHARE = 3
/** Those of namespaces have half of them together, so that an owner's token always finds its third. */
const SHARE_OF_NAMESPACES = 2

/** Returns what counts a connection as a token's. Throws `too_many`: whoever has tokens leaves room for others. */
function boundHolders(all: number): (holder: Pick<TokenHolder, 'id' | 'caller'>, socket: Socket) => void {
  const [most, mostTogether] = [Math.floor(all / SHARE), Math.floor(all / SHARE_OF_NAMESPACES)]
  const holders = new Map<string, Set<Socket>>()
  const ofNamespaces = new Set<Socket>()
  /** Behind a proxy one connection brings many tokens. */
  const tokensOn = new WeakMap<Socket, Set<string>>()
  const drop = (socket: Socket, tokens: ReadonlySet<string>): void => {
    ofNamespaces.delete(socket)
    for (const id of tokens) {
      const held = holders.get(id)
      held?.delete(socket)
      if (held?.size === 0) holders.delete(id)
    }
  }
  return ({ id, caller }, socket) => {
    const held = holders.get(id) ?? new Set()
    if (held.has(socket)) return
    if (held.size >= most) throw new ParleyError('too_many', `A token may have ${most} connections open; close some.`)
    const shares = caller.kind === 'token'
    if (shares && ofNamespaces.size >= mostTogether)
      throw new ParleyError('too_many', `The tokens of namespaces have ${mostTogether} connections open together.`)
    holders.set(id, held.add(socket))
    if (shares) ofNamespaces.add(socket)
    const tokens = tokensOn.get(socket)
    if (tokens !== undefined) return void tokens.add(id)
    const first = new Set([id])
    tokensOn.set(socket, first)
    socket.once('close', () => drop(socket, first))
  }
}

function tokenOf(header = ''): string {
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? ''
}

/** The requests that a token has left, as of a moment. */
interface Left {
  count: number
  at: number
}

const MINUTE_MS = 60_000
/** Tokens that are remembered; the one that has asked longest ago is forgotten. */
const TOKENS = 10_000

/**
 * Returns what counts a request of a token. Throws `too_many` for a token that has made `perMinute` of them and makes
 * more before the time for one has passed: a program that repeats without a pause leaves room for others.
 */
function createPace(clock: Pick<Clock, 'elapsed'>, perMinute: number): (token: string) => void {
  const known = new Map<string, Left>()
  return (token) => {
    const now = clock.elapsed()
    const { count, at } = known.get(token) ?? { count: perMinute, at: now }
    const left = Math.min(perMinute, count + ((now - at) * perMinute) / MINUTE_MS)
    known.delete(token)
    known.set(token, { count: left < 1 ? left : left - 1, at: now })
    const [oldest] = known.keys()
    if (known.size > TOKENS && oldest !== undefined) known.delete(oldest)
    if (left < 1)
      throw new TooManyRequests(
        `A token may make ${perMinute} requests a minute (http.requestsPerMinute); wait a moment.`,
        Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1_000),
      )
  }
}
