import type { TokenOperator } from '../core/operator.ts'
import * as answers from './answers.ts'
import { type Ask, type Client, named } from './remote-sessions.ts'

/** Returns the tokens of a daemon behind its socket. */
export function remoteTokens(tokens: ReturnType<Client>['v1']['tokens'], ask: Ask): TokenOperator {
  return {
    create: (namespace, label = '') => ask(answers.newToken, tokens.$post({ json: { namespace, label } })),
    list: () => ask(answers.tokens, tokens.$get()),
    revoke: async (id) => {
      await ask(answers.revoked, tokens[':id'].$delete({ param: { id: named(id) } }))
    },
  }
}
