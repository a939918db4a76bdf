import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { importedSession } from '../../src/routing/imported-session.ts'
import { mainKey } from '../../src/routing/session-key.ts'
import { agents, household, routingOf } from '../fakes/routing-policy.ts'

const rules = routingOf(household({ agents: agents('main', 'second') })).sessions

it.each([
  ['agent:main:Telegram:direct:1', 'agent:main:telegram:direct:1', 'direct'],
  [' telegram:group:-100 ', 'agent:main:telegram:group:-100', 'group'],
  ['agent:second:slack:channel:C1', 'agent:second:slack:channel:c1', 'channel'],
  [`sk_v1_${'0'.repeat(64)}`, `agent:main:sk_v1_${'0'.repeat(64)}`, 'direct'],
])('K39: the old key %s means %s', (key, name, chatType) => {
  const session = importedSession(rules, key)
  expect(session).toMatchObject({ scopeKey: name, displayKey: name, kind: 'other', chatType })
})

it.each([
  ['agent:second:slack:channel:C1', 'second'],
  ['Agent:Second:direct:user123', 'second'],
  ['agent:main:telegram:direct:1', 'main'],
  ['agent:retired:telegram:direct:1', 'retired'],
  ['agent:retired:main', 'retired'],
  ['telegram:group:-100', 'main'],
  ['agent:second', 'main'],
])('K39: the old key %s belongs to the agent %s', (key, agent) => {
  expect(importedSession(rules, key)).toMatchObject({ agent, scope: { agent }, kind: 'other' })
})

it.each([
  ['main', 'main', 'main'],
  ['agent:main:main', 'main', 'main'],
  ['agent:second:MAIN', 'second', 'agent:second:main'],
])('K39: the old key %s means the main session of %s', (key, agent, displayKey) => {
  const scopeKey = mainKey(toAgentId(agent))
  expect(importedSession(rules, key)).toMatchObject({ agent, scopeKey, displayKey, kind: 'main' })
})
