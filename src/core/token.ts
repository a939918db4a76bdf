import type { Namespace } from './caller.ts'

/** The stored form of a channel token (S42), which never includes the token itself. */
export interface StoredToken {
  readonly id: string
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  readonly namespace: Namespace
  /** The purpose, in its maker's words. */
  readonly label: string
  readonly createdAt: number
  readonly revokedAt?: number
}
