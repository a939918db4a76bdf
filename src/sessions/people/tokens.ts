import { createHash, timingSafeEqual } from 'node:crypto'
import { type Caller, parseNamespace } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { TokenOperator, TokenReport } from '../../core/operator.ts'
import type { StoredToken } from '../../core/token.ts'
import type { Store } from '../../store/store.ts'

/** Channel tokens: made by the operator, shown once, kept as a hash (S42). */
export interface TokenService {
  readonly operator: TokenOperator
  /** Returns the present holder of a token; undefined for one that is unknown or was revoked. */
  verify(token: string): Promise<Extract<Caller, { kind: 'token' }> | undefined>
}

export interface TokenDeps {
  readonly store: Store
  readonly clock: Clock
  /** Returns `count` random bytes. */
  randomBytes(count: number): Buffer
}

const LABEL = 80

export function createTokens({ store, clock, randomBytes }: TokenDeps): TokenService {
  return {
    operator: {
      async create(namespace, label = '') {
        const parsed = parseNamespace(namespace)
        if (!parsed)
          throw new ParleyError(
            'invalid',
            `"${namespace}" is no namespace; write a channel, or web:<name>, in lower case.`,
          )
        if (label.length > LABEL) throw new ParleyError('invalid', `A label has ${LABEL} characters at most.`)
        const id = randomBytes(6).toString('hex')
        const secret = randomBytes(32).toString('base64url')
        const stored = { id, hash: hashOf(secret), namespace: parsed, label: label.trim(), createdAt: clock.now() }
        await store.write((tx) => tx.tokens.add(stored))
        return { ...reportOf(stored), token: `ply_${id}_${secret}` }
      },
      list: async () => (await store.read.tokens.all()).map(reportOf),
      async revoke(id) {
        if (!(await store.write((tx) => tx.tokens.revoke(id, clock.now()))))
          throw new ParleyError('not_found', `There is no token ${id}.`)
      },
    },
    async verify(token) {
      const [, id = '', secret = ''] = /^ply_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/.exec(token) ?? []
      const stored = id === '' ? undefined : await store.read.tokens.get(id)
      if (!stored || stored.revokedAt !== undefined || !equal(hashOf(secret), stored.hash)) return undefined
      return { kind: 'token', namespace: stored.namespace }
    },
  }
}

function reportOf({ id, namespace, label, createdAt, revokedAt }: StoredToken): TokenReport {
  return { id, namespace, label, createdAt, ...(revokedAt === undefined ? {} : { revokedAt }) }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
