import type { Route } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import { type AgentId, toAccountId } from '../core/ids.ts'
import type { SessionSource } from '../core/session.ts'
import type { Routing } from './compile-routing.ts'
import { sourceDisplayKey, sourceKey, sourceKind } from './session-key.ts'

/**
 * Returns the route of a session that no chat opened (T4, T34). Throws `invalid` for a source that has no key of its
 * own.
 */
export function sourceRoute({ sessions }: Pick<Routing, 'sessions'>, source: SessionSource, named?: AgentId): Route {
  const displayKey = sourceDisplayKey(source)
  if (displayKey === undefined) throw new ParleyError('invalid', `a session of ${source.kind} has no key of its own`)
  const agent = named ?? sessions.defaultAgent
  return {
    agent,
    scope: { version: 1, agent, channel: 'api', account: toAccountId(''), dimensions: [], values: {} },
    scopeKey: sourceKey(displayKey),
    displayKey,
    kind: sourceKind(source.kind, 'other'),
    chatType: 'direct',
    matchedBy: 'default',
  }
}
