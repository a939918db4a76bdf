import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChannelId, toAccountId, toAgentId } from '../../src/core/ids.ts'
import type { Dimension, SourceKind } from '../../src/core/session.ts'
import { knownDimensions } from '../../src/routing/dimensions.ts'
import { matchFacts, NO_SENDER } from '../../src/routing/match-facts.ts'
import { displayKey, scopeKey, scopeOf, sourceDisplayKey, sourceKind } from '../../src/routing/session-key.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { agents, household } from '../fakes/routing-policy.ts'

function shown(address = group(), changes = {}): string {
  return routeOf(decide(household(changes), message({ address }))).displayKey
}

describe('display keys', () => {
  it('T3: groups and channels show surface, kind and id', () => {
    expect(shown(group('-100'))).toBe('telegram:group:-100')
    expect(shown(slackChannel('C1'))).toBe('slack:channel:c1')
  })

  it('T36: a topic is appended, on Telegram and as a dimension', () => {
    expect(shown(group('-100', { topic: '42' }))).toBe('telegram:group:-100/42')
    expect(shown(slackChannel('C1', { topic: '17.5' }))).toBe('slack:channel:c1/17.5')
    expect(shown(group('-100', { topic: '42' }), { dimensions: ['chat', 'topic'] })).toBe('telegram:group:-100/42')
  })

  it('T36: a direct chat is <channel>:direct:<id> of kind other', () => {
    const route = routeOf(decide(household(), message({ address: direct('111') })))
    expect(route).toMatchObject({ displayKey: 'telegram:direct:111', kind: 'other', chatType: 'direct' })
  })

  it('T36: accounts, agents, people and spaces that set sessions apart are shown', () => {
    expect(shown(group('-100', { account: toAccountId('second') }))).toBe('telegram@second:group:-100')
    expect(shown(group('-100'), { dimensions: ['chat', 'sender'] })).toBe('telegram:group:-100|sender=ada')
    expect(shown(slackChannel(), { channelDimensions: { slack: ['space', 'chat'] } })).toBe(
      'slack|space=team:t01|chat=channel:c1',
    )
    const dispatch = [{ match: { chat: '-100' }, agent: 'second' }]
    expect(shown(group('-100'), { agents: agents('main', 'second'), dispatch })).toBe(
      'agent:second:telegram:group:-100',
    )
  })

  it('T36: a rule that treats topics unlike its channel does not show a key of the channel', () => {
    const address = group('-100', { topic: '42' })
    const asTopic = [{ match: { chat: '-100' }, dimensions: ['chat', 'topic'] }]
    expect(shown(address, { dispatch: asTopic })).toBe('telegram|chat=group:-100|topic=topic:42')
    const asSuffix = [{ match: { chat: '-100' }, dimensions: ['chat'] }]
    expect(shown(address, { dispatch: asSuffix, dimensions: ['chat', 'topic'] })).toBe('telegram|chat=group:-100/42')
  })

  it('T36: two scopes of one channel never show one key, and one scope never two', () => {
    const lists = fc.uniqueArray(fc.constantFrom<Dimension>('space', 'chat', 'topic', 'sender'))
    const place = fc.record({
      chat: fc.constantFrom('-1', '-2'),
      topic: fc.constantFrom('', '1', '2'),
      senderId: fc.constantFrom('7', '8'),
      account: fc.constantFrom('', 'second'),
    })
    const channel = fc.constantFrom<ChannelId>('telegram', 'discord')
    fc.assert(
      fc.property(channel, lists, fc.tuple(lists, place), fc.tuple(lists, place), (on, usual, one, other) => {
        const [a, b] = [one, other].map(([list, { chat, topic, senderId, account }]) => {
          const address = group(chat, {
            channel: on,
            topic,
            account: toAccountId(account),
            space: { type: 'g', id: '5' },
          })
          const traits = CHANNELS.traits(on)
          const facts = matchFacts(
            { address, traits },
            { ...NO_SENDER, senderId },
            { person: undefined, mentioned: true },
          )
          const scope = scopeOf({ agent: toAgentId(''), channel: on, account: address.account }, facts, list)
          return { key: scopeKey(scope), shown: displayKey(scope, knownDimensions(usual), traits.topics) }
        })
        expect(a?.shown === b?.shown).toBe(a?.key === b?.key)
      }),
      { numRuns: 2_000 },
    )
  })

  it('T4: schedules, hooks and nodes show their own id', () => {
    const of = (kind: SourceKind, triggerId?: string) =>
      sourceDisplayKey({ kind, interactive: false, ...(triggerId ? { triggerId } : {}) })
    expect(of('schedule', 'morning')).toBe('cron:morning')
    expect(of('hook', 'a-uuid')).toBe('hook:a-uuid')
    expect(of('node', '7')).toBe('node-7')
    expect(of('channel', 'x')).toBeUndefined()
    expect(of('schedule')).toBeUndefined()
  })

  it('T36: every source has a kind', () => {
    const sources: SourceKind[] = ['schedule', 'cli', 'web', 'api', 'hook', 'node']
    expect(sources.map((kind) => sourceKind(kind, 'group'))).toEqual([
      'cron',
      'other',
      'other',
      'other',
      'hook',
      'node',
    ])
    expect(sourceKind('channel', 'group')).toBe('group')
  })
})

describe('shared direct sessions', () => {
  const fromTelegram = message({ address: direct('111') })
  const fromDiscord = message({ address: direct('222', { channel: 'discord' }), sender: user('222') })

  it('T2, K46: direct: main gives the owner one session shown as main, over all channels', () => {
    const main = household({ direct: 'main' })
    const routes = [fromTelegram, fromDiscord].map((event) => routeOf(decide(main, event)))
    expect(routes.map(({ displayKey, kind }) => `${displayKey} ${kind}`)).toEqual(['main main', 'main main'])
    expect(routes[0]?.scopeKey).toBe(routes[1]?.scopeKey)
  })

  it('K46: direct: main is for the owner only', () => {
    const bob = message({ address: direct('444'), sender: user('444') })
    expect(routeOf(decide(household({ direct: 'main' }), bob)).displayKey).toBe('telegram:direct:444')
  })

  it('K46: direct: person gives a linked person one session over all channels and accounts', () => {
    const person = household({ direct: 'person' })
    const otherAccount = message({ address: direct('111', { account: toAccountId('second') }) })
    const routes = [fromTelegram, fromDiscord, otherAccount].map((event) => routeOf(decide(person, event)))
    expect(new Set(routes.map(({ scopeKey }) => scopeKey)).size).toBe(1)
    expect(routes[0]).toMatchObject({ displayKey: 'direct:ada', kind: 'other', scope: { values: { sender: 'ada' } } })
  })

  it('K46: direct: person leaves people without a link in their own chats', () => {
    const open = household({ direct: 'person', access: { direct: 'public', groups: [] } })
    const keys = ['8', '9'].map(
      (id) => routeOf(decide(open, message({ address: direct(id), sender: user(id) }))).displayKey,
    )
    expect(keys).toEqual(['telegram:direct:8', 'telegram:direct:9'])
  })

  it('T35: with global scope all direct chats are one session, groups are not', () => {
    const global = household({ scope: 'global' })
    const bob = message({ address: direct('444'), sender: user('444') })
    expect([fromTelegram, fromDiscord, bob].map((event) => routeOf(decide(global, event)).displayKey)).toEqual([
      'main',
      'main',
      'main',
    ])
    expect(routeOf(decide(global, message())).displayKey).toBe('telegram:group:-100')
  })
})
