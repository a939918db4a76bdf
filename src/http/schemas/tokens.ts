import type { Namespace } from '../../core/caller.ts'
import type { NamedToken, TokenReport } from '../../core/operate-tokens.ts'
import type { Scope } from '../../core/token.ts'
import { flag, id, list, maybe, object, oneOf, text, time } from './shape.ts'

const scope = oneOf<Scope>({
  ...{ 'sessions:read': true, 'sessions:write': true, chat: true, hooks: true, nodes: true, notify: true },
  ...{ 'operate:read': true, 'operate:write': true, metrics: true, tokens: true },
})
const fields = {
  id: text,
  namespace: maybe(id<Namespace>()),
  scopes: list(scope),
  label: text,
  createdAt: time,
  madeBy: maybe(text),
  expiresAt: maybe(time),
  usedAt: maybe(time),
  revokedAt: maybe(time),
}

export const tokens = list(object<TokenReport>(fields, 'Token'))
export const newToken = object<TokenReport & { readonly token: string }>({ ...fields, token: text }, 'NewToken')
export const tokenRevoked = object<{ readonly revoked: boolean; readonly also?: readonly NamedToken[] }>({
  revoked: flag,
  also: maybe(list(object<NamedToken>({ id: text, label: text }))),
})
