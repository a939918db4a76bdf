import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Route } from '../../src/core/dispatch.ts'
import { toAccountId, toAgentId } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Dimension } from '../../src/core/session.ts'
import { mainKey } from '../../src/routing/session-key.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { agents, household } from '../fakes/routing-policy.ts'

function routeFor(event: Partial<InboundMessage>, changes: Partial<RoutingPolicy> = {}): Route {
  return routeOf(decide(household(changes), message(event)))
}

function keyFor(event: Partial<InboundMessage>, changes: Partial<RoutingPolicy> = {}): string {
  return routeFor(event, changes).scopeKey
}

function sha(text: string): string {
  return `sk_v1_${createHash('sha256').update(text, 'utf8').digest('hex')}`
}

const dims = (...dimensions: Dimension[]): Partial<RoutingPolicy> => ({ dimensions, channelDimensions: {} })

describe('scope keys', () => {
  it('K1: two messages of one chat are one session by default', () => {
    expect(keyFor({ eventKey: 'e1', sender: user('111') })).toBe(keyFor({ eventKey: 'e2', sender: user('999') }))
  })

  it('K2: chats, accounts, channels and agents never share a session', () => {
    const keys = [
      keyFor({ address: group('-100') }),
      keyFor({ address: group('-200') }),
      keyFor({ address: group('-100', { account: toAccountId('second') }) }),
      keyFor({ address: group('-100', { channel: 'discord' }) }),
      keyFor({ address: group('-100') }, { agents: agents('other') }),
      keyFor({ address: direct('-100') }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('K3: the key is sk_v1_ and the known hash of the signature', () => {
    expect(keyFor({ address: group('-100123') })).toBe(
      'sk_v1_a2f22d9f67ca227eae49a5fb1150718567d9a9f6b150bdbab61db4a69ba53bfe',
    )
    expect(keyFor({ address: group('-100123') })).toMatch(/^sk_v1_[0-9a-f]{64}$/)
  })

  it.each<[string, Partial<InboundMessage>, Partial<RoutingPolicy>]>([
    ['v=1|agent=main|channel=telegram|account=default|chat=group:-100123', { address: group('-100123') }, {}],
    ['v=1|agent=main|channel=telegram|account=default|chat=direct:111', { address: direct('111') }, {}],
    [
      'v=1|agent=main|channel=telegram|account=default|chat=group:-100/42',
      { address: group('-100', { topic: '42' }) },
      {},
    ],
    [
      'v=1|agent=main|channel=slack|account=default|space=team:t01|chat=channel:c1|topic=topic:17.5|sender=ada',
      { address: slackChannel('C1', { topic: '17.5' }), sender: user('U333', { team: 'T01' }) },
      dims('space', 'chat', 'topic', 'sender'),
    ],
    ['v=1|agent=main|channel=telegram|account=default', { address: group('-100') }, dims()],
  ])('K4: the signature is byte for byte %s', (signature, event, changes) => {
    expect(keyFor(event, changes)).toBe(sha(signature))
  })

  it('K4: values are not escaped', () => {
    expect(keyFor({ address: group('a|b=c') })).toBe(
      sha('v=1|agent=main|channel=telegram|account=default|chat=group:a|b=c'),
    )
  })

  it('K5: case and outer spaces of inbound facts change nothing', () => {
    const all = dims('space', 'chat', 'topic', 'sender')
    const plain = { address: slackChannel('C1', { topic: '17.5' }), sender: user('U9', { team: 'T01' }) }
    const loud = {
      address: slackChannel(' c1 ', { topic: ' 17.5', space: { type: 'Team', id: ' t01' } }),
      sender: user(' u9 ', { team: 't01 ' }),
    }
    expect(keyFor(loud, all)).toBe(keyFor(plain, all))
  })

  it('K6: the order of dimensions is part of the key', () => {
    expect(keyFor({}, dims('chat', 'sender'))).not.toBe(keyFor({}, dims('sender', 'chat')))
  })

  it('K7: unknown dimensions are ignored and repeats dropped', () => {
    const odd = ['chat', 'Chat ', 'planet', 'sender', 'chat'] as Dimension[]
    expect(routeFor({}, dims(...odd)).scope.dimensions).toEqual(['chat', 'sender'])
  })

  it('K8: a dimension without a value is left out', () => {
    const { scope } = routeFor({ address: group('-100', { topic: '  ' }) }, dims('space', 'chat', 'topic'))
    expect(scope.dimensions).toEqual(['chat'])
  })

  it('K8: a message without chat, topic, space and sender id falls to its account', () => {
    const nowhere = { address: group(''), sender: user('') }
    expect(keyFor(nowhere, dims('space', 'chat', 'topic', 'sender'))).toBe(
      sha('v=1|agent=main|channel=telegram|account=default'),
    )
  })

  it('K9: space, chat and topic carry their type', () => {
    const { scope } = routeFor({ address: slackChannel('C1', { topic: '7' }) }, dims('space', 'chat', 'topic'))
    expect(scope.values).toEqual({ space: 'team:t01', chat: 'channel:c1', topic: 'topic:7' })
  })

  it('K9: a space without a type is a space', () => {
    const { scope } = routeFor({ address: slackChannel('C1', { space: { type: '', id: 'T01' } }) }, dims('space'))
    expect(scope.values).toEqual({ space: 'space:t01' })
  })

  it('K10: two topics of one Telegram group are two sessions, General a third', () => {
    const keys = [undefined, '1', '2'].map((topic) => keyFor({ address: group('-100', topic ? { topic } : {}) }))
    expect(new Set(keys).size).toBe(3)
  })

  it('K11: with topic as a dimension the chat has no suffix and topics are still apart', () => {
    const inTopic = (topic: string) => routeFor({ address: group('-100', { topic }) }, dims('chat', 'topic'))
    expect(inTopic('1').scope.values).toEqual({ chat: 'group:-100', topic: 'topic:1' })
    expect(inTopic('1').scopeKey).not.toBe(inTopic('2').scopeKey)
  })

  it('K12: threads of other platforms share unless topic is a dimension', () => {
    const thread = (topic: string) => ({ address: slackChannel('C1', { topic }) })
    expect(keyFor(thread('1'), dims('chat'))).toBe(keyFor(thread('2'), dims('chat')))
    expect(keyFor(thread('1'))).not.toBe(keyFor(thread('2')))
  })

  it('K13: with sender two people in one group have separate sessions', () => {
    const by = (sender: InboundMessage['sender']) => keyFor({ sender }, dims('chat', 'sender'))
    const keys = [by(user('777')), by(user('888')), by(user('777', { team: 'T1' })), by(user('777', { team: 'T2' }))]
    expect(new Set(keys).size).toBe(4)
  })

  it('K24: the main session has a key of its own, made from its alias', () => {
    expect(mainKey(toAgentId('main'))).toBe('sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b')
    expect(mainKey(toAgentId('main'))).toBe(sha('agent:main:main'))
    expect(mainKey(toAgentId('other'))).not.toBe(mainKey(toAgentId('main')))
  })

  it('K47: the scope is kept as a structure', () => {
    expect(routeFor({ address: group('-100', { topic: '42' }) }).scope).toEqual({
      version: 1,
      agent: 'main',
      channel: 'telegram',
      account: 'default',
      dimensions: ['chat'],
      values: { chat: 'group:-100/42' },
    })
  })
})
