import type { TokenOperator } from '../core/operator.ts'
import type { Ask } from './remote-sessions.ts'

/** The tokens of a daemon behind its socket. */
export function remoteTokens(ask: Ask): TokenOperator {
  return {
    create: (namespace, label = '') =>
      ask('/v1/tokens', 'POST', { namespace, label }) as ReturnType<TokenOperator['create']>,
    list: () => ask('/v1/tokens') as ReturnType<TokenOperator['list']>,
    async revoke(id) {
      await ask(`/v1/tokens/${encodeURIComponent(id)}`, 'DELETE')
    },
  }
}
