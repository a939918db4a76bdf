import type { Caller, Namespace } from './caller.ts'

/** The uses of a token within its namespace. */
export const NAMESPACE_SCOPES = ['sessions:read', 'sessions:write', 'chat', 'hooks', 'nodes', 'notify'] as const
/** Further uses, of a token of an owner alone; `tokens` makes and revokes tokens. */
export const OWNER_SCOPES = ['operate:read', 'operate:write', 'metrics', 'tokens'] as const
export const SCOPES = [...NAMESPACE_SCOPES, ...OWNER_SCOPES] as const

export type Scope = (typeof SCOPES)[number]

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}

/** The stored form of a token (S42), which never includes the token itself. Times are ms since the epoch. */
export interface StoredToken {
  readonly id: string
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  /** The sessions that it reaches; absent: it is an owner's and reaches all. */
  readonly namespace?: Namespace
  readonly scopes: readonly Scope[]
  /** The purpose, in its maker's words. */
  readonly label: string
  readonly createdAt: number
  /** The id of the token that has made it; absent: the operator at the machine. */
  readonly madeBy?: string
  readonly expiresAt?: number
  /** The last use, exact to a minute. */
  readonly usedAt?: number
  readonly revokedAt?: number
}

/** The beginning of every token; the id that follows is no secret. */
const PREFIX = 'ply_'
const DOER = 'token:'

/** Returns the id as lists show it: the beginning of the token itself. */
export function shownTokenId(id: string): string {
  return `${PREFIX}${id}`
}

/** Returns the id of a token from what a list shows, from the whole token, or from the id itself. */
export function tokenIdOf(shown: string): string {
  return /^ply_([^_]*)/.exec(shown)?.[1] ?? shown
}

/** Returns the name by which decisions record that an owner's token has made them. */
export function tokenDoer(id: string): string {
  return `${DOER}${shownTokenId(id)}`
}

/** Returns the id of the token that made a decision; undefined if a person or the operator has. */
export function tokenOfDoer(by: string): string | undefined {
  return by.startsWith(DOER) ? tokenIdOf(by.slice(DOER.length)) : undefined
}

/** Returns true if a token is an owner's and valid at a time. */
export function isOwnersNow(
  { namespace, revokedAt, expiresAt = Infinity }: Pick<StoredToken, 'namespace' | 'revokedAt' | 'expiresAt'>,
  now: number,
): boolean {
  return namespace === undefined && revokedAt === undefined && now < expiresAt
}

/** The bearer of a valid token. */
export interface TokenHolder {
  readonly id: string
  readonly caller: Caller
  readonly scopes: ReadonlySet<Scope>
  /** Aborted once the token is revoked or expires: what it has opened ends with it. */
  readonly ended: AbortSignal
}

/** Stands for the operator where requests are kept and recorded by the id of a token. */
export const OPERATOR_HOLDER = 'operator'
