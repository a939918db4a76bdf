import { createHash, timingSafeEqual } from 'node:crypto'
import { type Caller, type Namespace, parseNamespace } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { JOINED_IDS } from '../../core/joins-people.ts'
import type { RequestId } from '../../core/keyed-request.ts'
import type { NamedToken, NewToken, TokenOperator, TokenReport } from '../../core/operate-tokens.ts'
import {
  isScope,
  NAMESPACE_SCOPES,
  OWNER_SCOPES,
  SCOPES,
  type Scope,
  type StoredToken,
  shownTokenId,
  type TokenHolder,
  tokenIdOf,
} from '../../core/token.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'

/** Tokens of programs: made by the operator, shown once, kept as a hash (S42). */
export interface TokenService {
  readonly operator: TokenOperator
  /** Returns who brings a token; undefined for one that is unknown, was revoked or has expired. */
  verify(token: string): Promise<TokenHolder | undefined>
}

export interface TokenDeps {
  readonly store: Store
  readonly clock: Clock
  /** Returns `count` random bytes. */
  randomBytes(count: number): Buffer
}

const LABEL = 80
const DAY_MS = 86_400_000
const MOST_DAYS = 3_650
/** A use within this time after the last one on record is not written down. */
const USE_MS = 60_000
/** Whatever an expired token has open ends by the next look. */
const LOOK_MS = 5_000
/** A session of a namespace is read and written by default; what costs or acts elsewhere is asked for by name. */
const DEFAULT_SCOPES: readonly Scope[] = ['sessions:read', 'sessions:write']
const OWNER_DEFAULT: readonly Scope[] = SCOPES.filter((scope) => scope !== 'tokens')

export function createTokens(deps: TokenDeps): TokenService {
  const { store, clock, randomBytes } = deps
  const uses = createUses(deps)
  return {
    operator: {
      async create(request, by) {
        const maker = by === undefined ? undefined : await makerOf(store.read, by)
        const reach = readReach(request, maker)
        const { label = '', days } = request
        if (label.length > LABEL) throw new ParleyError('invalid', `A label has ${LABEL} characters at most.`)
        const createdAt = clock.now()
        const fresh = randomBytes(6).toString('hex')
        const secret = randomBytes(32).toString('base64url')
        const until = Math.min(endOf(days, createdAt), maker?.expiresAt ?? Infinity)
        const limits = {
          ...(until < Infinity ? { expiresAt: until } : {}),
          ...(by === undefined ? {} : { madeBy: by }),
        }
        const made = { hash: hashOf(secret), ...reach, label: label.trim(), createdAt, ...limits }
        const stored = await store.write(async (tx) => {
          // Its maker may have been revoked meanwhile, with all that it had made by then.
          if (by !== undefined) await makerOf(tx, by)
          return addOnce(tx, { id: fresh, ...made }, request.once)
        })
        return { ...reportOf(stored), token: `${shownTokenId(stored.id)}_${secret}` }
      },
      list: async () => (await store.read.tokens.all()).map(reportOf),
      async revoke(shown, by) {
        const id = tokenIdOf(shown)
        if (by !== undefined) await checkRevoking(store, id, by)
        const ended = await store.write((tx) => revokeAll(tx, id, clock.now()))
        if (ended.length === 0) throw new ParleyError('not_found', `There is no token ${id}.`)
        for (const one of ended) uses.revoked(one.id)
        return ended.filter((one) => one.id !== id && one.now).map(({ id, label }) => ({ id, label }))
      },
    },
    async verify(token) {
      const [, id = NO_ID, secret = ''] = /^ply_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/.exec(token) ?? []
      // The same is done for every text, so that the time says nothing of what is right in it.
      const stored = await store.read.tokens.get(id)
      const same = equal(hashOf(secret), stored?.hash ?? hashOf(''))
      if (!stored || !same || !isValid(stored, clock.now())) return undefined
      const { namespace, scopes } = stored
      const caller: Caller =
        namespace === undefined ? { kind: 'operator', token: id } : { kind: 'token', namespace, token: id }
      const ended = uses.note(stored)
      return ended.aborted ? undefined : { id, caller, scopes: new Set(scopes), ended }
    },
  }
}

/**
 * Adds a token. One that this request made before a crash was never shown to anybody: it goes, so that there is one.
 */
async function addOnce(tx: StoreWriter, stored: StoredToken, once: RequestId | undefined): Promise<StoredToken> {
  const before = once && (await tx.keyedRequests.effect(once))
  if (before !== undefined) await tx.tokens.remove(before)
  await tx.tokens.add(stored)
  if (once) await tx.keyedRequests.took(once, stored.id)
  return stored
}

/** Returns a token and all that it has made, each with whether it was valid before. */
async function revokeAll(
  { tokens }: StoreWriter,
  id: string,
  at: number,
): Promise<readonly (NamedToken & { readonly now: boolean })[]> {
  const before = new Map((await tokens.all()).map((one) => [one.id, one]))
  return (await tokens.revoke(id, at)).map((one) => {
    const known = before.get(one)
    return { id: one, label: known?.label ?? '', now: known !== undefined && isValid(known, at) }
  })
}

/** The id of no token. */
const NO_ID = '-'

function isValid({ revokedAt, expiresAt = Infinity }: StoredToken, now: number): boolean {
  return revokedAt === undefined && now < expiresAt
}

interface Uses {
  /** Notes a use, and returns what is aborted when the token ends, or has been since it was read. */
  note(token: StoredToken): AbortSignal
  revoked(id: string): void
}

interface Use {
  readonly ending: AbortController
  readonly expiresAt: number | undefined
  usedAt: number
}

/** Keeps in memory which tokens are in use. */
function createUses({ store, clock }: TokenDeps): Uses {
  const open = new Map<string, Use>()
  /** Those that were revoked here: a request may have read one just before. */
  const revoked = new Set<string>()
  let looking = false
  const end = (id: string): void => {
    open.get(id)?.ending.abort()
    open.delete(id)
  }
  /** By the time of day, which somebody may set, and which continues while the machine sleeps. */
  const look = (): void => {
    looking = [...open.values()].some(({ expiresAt }) => expiresAt !== undefined)
    if (!looking) return
    clock.after(LOOK_MS, () => {
      for (const [id, { expiresAt = Infinity }] of open) if (clock.now() >= expiresAt) end(id)
      look()
    })
  }
  return {
    revoked(id) {
      revoked.add(id)
      end(id)
    },
    note({ id, expiresAt, usedAt = -Infinity }) {
      if (revoked.has(id)) return AbortSignal.abort()
      const now = clock.now()
      const known = open.get(id)
      const use = known ?? { ending: new AbortController(), usedAt, expiresAt }
      if (known === undefined) {
        open.set(id, use)
        if (!looking) look()
      }
      // A use of a time yet to come is left from a clock that was wrong.
      if (Math.abs(now - use.usedAt) >= USE_MS) {
        use.usedAt = now
        // Only for people to look at: a request does not wait for it.
        void store.write((tx) => tx.tokens.used(id, now)).catch(() => {})
      }
      return use.ending.signal
    },
  }
}

const JOINED = Object.values(JOINED_IDS)

type Maker = Pick<StoredToken, 'scopes' | 'expiresAt'>

/** Returns the token that makes another one; one that has gone meanwhile makes none. */
async function makerOf({ tokens }: Pick<StoreReader, 'tokens'>, by: string): Promise<Maker> {
  const maker = await tokens.get(by)
  if (maker !== undefined && maker.revokedAt === undefined) return maker
  throw new ParleyError('unauthorized', 'The token has ended.')
}

/** Throws `forbidden` for a token that may do something which whoever asks may not. */
async function checkRevoking(store: Store, id: string, by: string): Promise<void> {
  const maker = await makerOf(store.read, by)
  const token = await store.read.tokens.get(id)
  const more = token?.scopes.find((scope) => !maker.scopes.includes(scope))
  if (more !== undefined)
    throw new ParleyError('forbidden', `A token revokes none that may do more than itself: it has no scope ${more}.`)
}

/** Returns what a token is asked to reach and be used for. Throws `invalid`, and `forbidden` beyond its maker. */
function readReach(
  request: NewToken,
  maker: Maker | undefined,
): { readonly namespace?: Namespace; readonly scopes: readonly Scope[] } {
  const { namespace, scopes } = readWanted(request, maker)
  const more = scopes.find((scope) => maker !== undefined && !maker.scopes.includes(scope))
  if (more !== undefined)
    throw new ParleyError('forbidden', `A token makes none that may do more than itself: it has no scope ${more}.`)
  return { ...(namespace === undefined ? {} : { namespace }), scopes }
}

function readWanted(
  { namespace, owner = false, scopes }: NewToken,
  maker: Maker | undefined,
): ReturnType<typeof readReach> {
  const usual = (all: readonly Scope[]): readonly Scope[] => all.filter((one) => maker?.scopes.includes(one) ?? true)
  if (owner === (namespace !== undefined))
    throw new ParleyError(
      'invalid',
      'A token is for one namespace, such as api, or an owner’s: name a namespace, or say `owner` (`--owner`).',
    )
  if (namespace === undefined) return { scopes: readScopes(scopes ?? usual(OWNER_DEFAULT), SCOPES) }
  const parsed = parseNamespace(namespace)
  if (parsed !== undefined && JOINED.some((one) => one === parsed.split(':', 1)[0]))
    throw new ParleyError(
      'invalid',
      `The sessions ${parsed} join chats of several channels: make the token of an owner.`,
    )
  if (parsed) return { namespace: parsed, scopes: readScopes(scopes ?? usual(DEFAULT_SCOPES), NAMESPACE_SCOPES) }
  throw new ParleyError('invalid', `"${namespace}" is no namespace; write a channel, or web:<name>, in lower case.`)
}

function readScopes(asked: readonly string[], allowed: readonly Scope[]): readonly Scope[] {
  const scopes = new Set(asked)
  for (const scope of scopes) {
    if (isScope(scope) && allowed.includes(scope)) continue
    const owners = OWNER_SCOPES.some((one) => one === scope)
    const why = owners
      ? 'is for the token of an owner'
      : `is no scope; there are ${allowed.join(' ')}, with spaces between them`
    throw new ParleyError('invalid', `"${scope}" ${why}.`)
  }
  if (scopes.size === 0) throw new ParleyError('invalid', `A token needs a scope of ${allowed.join(', ')}.`)
  return allowed.filter((scope) => scopes.has(scope))
}

function endOf(days: number | undefined, createdAt: number): number {
  return days === undefined ? Infinity : createdAt + readDays(days) * DAY_MS
}

function readDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS) return days
  throw new ParleyError('invalid', `A token lasts 1 to ${MOST_DAYS} days.`)
}

function reportOf({ hash: _, ...shown }: StoredToken): TokenReport {
  return shown
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
