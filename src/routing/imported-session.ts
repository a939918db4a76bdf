import type { Route } from '../core/dispatch.ts'
import { toAccountId, toScopeKey } from '../core/ids.ts'
import type { SessionScope } from '../core/session.ts'
import { agentOfKey, normalName } from '../core/session-alias.ts'
import { ofAgent, type SessionRules } from './choose-session.ts'
import { displayKey, mainKey, scopeKey } from './session-key.ts'

/**
 * Returns the session that the key of an older program means. Its main session is ours; an explicit key stays what it
 * is and belongs to the agent it names, whether the configuration has that agent or not; any other becomes an alias of
 * the default agent, under which the chat it speaks of finds it (K27). So does one that is a hash (`sk_v1_…`): its file
 * does not say of what chat it is, so it stands in the place of none.
 */
export function importedSession(
  rules: SessionRules,
  key: string,
): Pick<Route, 'agent' | 'scope' | 'scopeKey' | 'displayKey' | 'kind' | 'chatType'> {
  const name = normalName(key, rules.channels.caseSensitive)
  const main = name === 'main' ? rules.defaultAgent : rules.mainNames.get(name)
  const agent = main ?? agentOfKey(name) ?? rules.defaultAgent
  const scope = { version: 1, agent, channel: 'api', account: toAccountId(''), dimensions: [], values: {} } as const
  if (main !== undefined) {
    const displayKey = main === rules.defaultAgent ? 'main' : `agent:${main}:main`
    return { agent, scope, scopeKey: mainKey(main), displayKey, kind: 'main', chatType: 'direct' }
  }
  const alias = name.startsWith('agent:') ? name : `agent:${agent}:${name}`
  const chatType = (/:(group|channel):/.exec(alias)?.[1] ?? 'direct') as Route['chatType']
  return { agent, scope, scopeKey: toScopeKey(alias), displayKey: alias, kind: 'other', chatType }
}

/** Returns the keys that a scope has here, whatever the file that it came in says. */
export function importedPlace(rules: SessionRules, scope: SessionScope): Pick<Route, 'scopeKey' | 'displayKey'> {
  const { topics } = rules.channels.traits(scope.channel)
  const { dimensions } = rules.dimensions.of(scope.channel)
  const key = displayKey(scope, dimensions, topics)
  return { scopeKey: scopeKey(scope), displayKey: ofAgent(rules, scope.agent, key) }
}
