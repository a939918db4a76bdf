import { type Namespace, parseNamespace } from '../../src/core/caller.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { TokenOperator } from '../../src/core/operate-tokens.ts'

const AT = Date.UTC(2026, 10, 21, 14, 3, 22)
const scopes = ['sessions:read'] as const

function toNamespace(text = ''): Namespace {
  const namespace = parseNamespace(text)
  if (namespace === undefined) throw new ParleyError('invalid', `"${text}" is no namespace`)
  return namespace
}

/** Notes what it is asked in `asked`. */
export function fakeTokens(asked: unknown[]): TokenOperator {
  return {
    async create(request) {
      asked.push({ token: request })
      const { label = '' } = request
      return {
        id: 'a1',
        namespace: toNamespace(request.namespace),
        scopes,
        label,
        createdAt: AT,
        token: 'ply_a1_secret',
      }
    },
    async list() {
      asked.push('tokens')
      return [{ id: 'a1', namespace: toNamespace('telegram'), scopes, label: 'bridge', createdAt: AT, revokedAt: AT }]
    },
    async revoke(id) {
      asked.push({ revoke: id })
      if (id === 'b2') return [{ id: 'c3', label: 'made by it' }]
      if (id !== 'a1') throw new ParleyError('not_found', `There is no token ${id}.`)
      return []
    },
  }
}
