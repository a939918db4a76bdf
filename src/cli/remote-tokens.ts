import type { TokenOperator } from '../core/operator.ts'
import * as answers from './answers.ts'
import type { Ask } from './remote-sessions.ts'

/** Returns the tokens of a daemon behind its socket. */
export function remoteTokens(ask: Ask): TokenOperator {
  return {
    create: (namespace, label = '') =>
      ask(answers.newToken, '/v1/tokens', { method: 'POST', body: { namespace, label } }),
    list: () => ask(answers.tokens, '/v1/tokens'),
    async revoke(id) {
      await ask(answers.done, `/v1/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' })
    },
  }
}
