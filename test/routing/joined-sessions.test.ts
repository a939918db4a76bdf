import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { joinsPeople } from '../../src/core/joins-people.ts'
import type { InboundMessage, Sender } from '../../src/core/message.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { DIMENSIONS } from '../../src/core/session.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household, member, owner } from '../fakes/routing-policy.ts'

const ADA = owner('ada', 'telegram:111', 'discord:222', 'slack:T01/U333')
const BOB = member('bob', 'telegram:444', 'slack:T01/U444')

const PLACES: readonly Address[] = [
  ...['111', '444', '999'].map((chat) => direct(chat)),
  group('-100'),
  group('-100', { topic: '42' }),
  group('-200', { topic: '42' }),
  direct('D1', { channel: 'slack', space: { type: 'team', id: 'T01' } }),
  direct('D2', { channel: 'slack', space: { type: 'team', id: 'T01' } }),
  slackChannel('C1'),
  slackChannel('C1', { topic: '17.5' }),
  slackChannel('C2', { topic: '17.5' }),
  group('7', { channel: 'discord', chatType: 'channel', space: { type: 'guild', id: 'G1' } }),
]
/** Each with whom it is; the anonymous admin of any group has one id. */
const SENDERS: readonly { readonly who: string; readonly sender: Sender }[] = [
  { who: 'ada', sender: user('111') },
  { who: 'ada', sender: user('U333', { team: 'T01' }) },
  { who: 'ada', sender: user('222') },
  { who: 'bob', sender: user('444') },
  { who: 'bob', sender: user('U444', { team: 'T01' }) },
  { who: 'a stranger', sender: user('999') },
  { who: 'an admin of -100', sender: user('1087968824') },
  { who: 'an admin of -200', sender: user('1087968824') },
]

const policies = fc
  .record({
    scope: fc.constantFrom<RoutingPolicy['scope']>('routed', 'global'),
    direct: fc.constantFrom<RoutingPolicy['direct']>('chat', 'person', 'main'),
    dimensions: fc.subarray([...DIMENSIONS]),
    threads: fc.option(fc.subarray([...DIMENSIONS]), { nil: undefined }),
  })
  .map(({ threads, ...rest }) =>
    household({
      ...rest,
      people: [ADA, BOB],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'always' }] },
      channelDimensions: threads === undefined ? {} : { slack: threads, discord: threads },
    }),
  )
const CASES = PLACES.flatMap((address) =>
  SENDERS.filter(({ sender }) => channelOf(sender) === address.channel).map((from) => ({ address, from })),
)
const said = fc.constantFrom(...CASES)

function channelOf({ id }: Sender): string {
  if (id.startsWith('U')) return 'slack'
  return id === '222' ? 'discord' : 'telegram'
}

describe('sessions that join people', () => {
  it('whatever the policy: what two people of two chats share is known as joined', () => {
    fc.assert(
      fc.property(policies, said, said, (policy, one, other) => {
        const [left, right] = [one, other].map(({ address, from }) => {
          const changes: Partial<InboundMessage> = { address, sender: from.sender, mentioned: true }
          return routeOf(decide(policy, message(changes)))
        })
        if (!left || !right) throw new Error('two were decided')
        const sameChat = one.address.channel === other.address.channel && one.address.chat === other.address.chat
        if (left.scopeKey !== right.scopeKey || sameChat || one.from.who === other.from.who) return
        // The main session that `direct: main` gives is one owner's alone here, and an owner's in any case.
        expect(joinsPeople(CHANNELS, left)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it.each<[string, Partial<RoutingPolicy>, Partial<InboundMessage>]>([
    ['a group', {}, {}],
    ['a forum topic', {}, { address: group('-100', { topic: '42' }) }],
    ['a direct chat', {}, { address: direct('444'), sender: user('444') }],
    ['all direct chats of a person', { direct: 'person' }, { address: direct('444'), sender: user('444') }],
    ['a member of a group', { dimensions: ['chat', 'sender'] }, {}],
    ['a person in all chats', { dimensions: ['sender'] }, {}],
  ])('%s joins nobody of another chat', (_what, rules, event) => {
    expect(joinsPeople(CHANNELS, routeOf(decide(household(rules), message(event))))).toBe(false)
  })
})
