import type { Namespace } from './caller.ts'

/** What is kept of a channel token (S42): never the token itself. */
export interface StoredToken {
  readonly id: string
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  readonly namespace: Namespace
  /** What it is for, in its maker's words. */
  readonly label: string
  readonly createdAt: number
  readonly revokedAt?: number
}
