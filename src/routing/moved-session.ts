import { foldId } from '../core/channel-traits.ts'
import type { ChatMove } from '../core/chat-move.ts'
import type { Route } from '../core/dispatch.ts'
import type { Session } from '../core/session.ts'
import { ofAgent, type SessionRules } from './choose-session.ts'
import { displayKey, scopeKey } from './session-key.ts'

/**
 * The scope of a session after its chat got a new id, with the keys made from it. Topics and people stay as they are.
 */
export function movedSession(
  rules: SessionRules,
  { scope }: Pick<Session, 'scope'>,
  { from, to }: ChatMove,
): Pick<Route, 'scope' | 'scopeKey' | 'displayKey'> {
  const [type, id] = splitOnce(scope.values.chat ?? '', ':')
  const [chat, topic] = splitOnce(id, '/')
  const { ids, topics } = rules.channels.traits(scope.channel)
  const value = `${type}:${chat === foldId(ids, from) ? foldId(ids, to) : chat}${topic === '' ? '' : `/${topic}`}`
  const moved = { ...scope, values: { ...scope.values, chat: value } }
  const key = displayKey(moved, rules.dimensions.of(scope.channel).dimensions, topics)
  return { scope: moved, scopeKey: scopeKey(moved), displayKey: ofAgent(rules, scope.agent, key) }
}

function splitOnce(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}
