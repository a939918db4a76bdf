import type { Caller, Namespace } from './caller.ts'

/** The uses of a token within its namespace. */
export const NAMESPACE_SCOPES = ['sessions:read', 'sessions:write', 'chat', 'hooks', 'nodes'] as const
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
  readonly expiresAt?: number
  /** The last use, exact to a minute. */
  readonly usedAt?: number
  readonly revokedAt?: number
}

/** The bearer of a valid token. */
export interface TokenHolder {
  readonly id: string
  readonly caller: Caller
  readonly scopes: ReadonlySet<Scope>
  /** Aborted once the token is revoked or expires: what it has opened ends with it. */
  readonly ended: AbortSignal
}
