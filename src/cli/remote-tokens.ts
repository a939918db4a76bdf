import type { TokenOperator } from '../core/operate-tokens.ts'
import * as answers from './answers.ts'
import { type Ask, type Client, named } from './remote-sessions.ts'

/** Returns the tokens of a daemon behind its socket. */
export function remoteTokens(tokens: ReturnType<Client>['v1']['tokens'], ask: Ask): TokenOperator {
  return {
    create: (request) =>
      ask(answers.newToken, tokens.$post({ json: { ...request, scopes: request.scopes && [...request.scopes] } })),
    list: () => ask(answers.tokens, tokens.$get()),
    revoke: async (id) => {
      await ask(answers.revoked, tokens[':id'].$delete({ param: { id: named(id) } }))
    },
  }
}
