import { describe, expect, it } from 'vitest'
import type { DispatchRule, RoutingPolicy } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { TRAITS } from '../fakes/channels.ts'
import { agents, member, owner, policy } from '../fakes/routing-policy.ts'

const TWO_LISTS: Partial<RoutingPolicy> = { dimensions: ['chat', 'topic'] }
const unmentioned: DispatchRule = {
  match: { channel: 'telegram', chat: '-1', mentioned: false },
  dimensions: ['chat'],
}
const support: DispatchRule = { match: { chat: '-2' }, dimensions: ['chat', 'sender'] }

/** What two lists of dispatch rules open. */
function opened(before: readonly DispatchRule[], after: readonly DispatchRule[], rest: Partial<RoutingPolicy> = {}) {
  return compareAccess(policy({ ...rest, dispatch: before }), policy({ ...rest, dispatch: after })).wider
}

describe('sessions that a reload joins', () => {
  it('F-H14: a forum topic that two lists wrote in two ways is one session when one of the rules goes', () => {
    expect(opened([unmentioned], [], TWO_LISTS)).toEqual([
      'routing.dispatch: channel telegram, chat -1, mentioned false: sessions by: chat, topic (was chat), shared with any other place',
    ])
  })

  it('F-H14: so is a chat whose two rules named the same in another order', () => {
    const turned: DispatchRule = {
      match: { channel: 'telegram', chat: '-1', mentioned: true },
      dimensions: ['sender', 'chat'],
    }
    expect(opened([turned], [], { dimensions: ['chat', 'sender'] })).toEqual([
      'routing.dispatch: channel telegram, chat -1, mentioned true: sessions by: chat, sender (was sender, chat), shared with any other place',
    ])
  })

  it('F-H14: a list that tells more apart joins what another rule of the chat sets apart', () => {
    const one: DispatchRule = { match: { chat: '-2', mentioned: true }, dimensions: ['chat'] }
    expect(opened([one, support], [support])).toEqual([
      'routing.dispatch: chat -2, mentioned true: sessions by: chat, sender (was chat), shared with chat -2',
    ])
  })

  it('F-H14: a rule for a sender whose names may be those of another rule is compared with it', () => {
    const split: DispatchRule = { match: { sender: '5' }, dimensions: ['chat', 'sender'] }
    for (const sender of ['telegram:5', 'somebody']) {
      const joined: DispatchRule = { match: { sender }, dimensions: ['chat'] }
      expect(opened([joined, split], [split])).not.toEqual([])
    }
  })

  it('F-H14: a rule that names no dimension we know has those of everybody', () => {
    const unknown = { match: { chat: '-2' }, dimensions: ['colour'] } as unknown as DispatchRule
    expect(opened([support, unknown], [support])).toEqual([])
    expect(opened([support], [unknown])).not.toEqual([])
  })

  it.each<[string, readonly DispatchRule[], readonly DispatchRule[], Partial<RoutingPolicy>]>([
    [
      'a chat that is split by sender',
      [support],
      [support, { match: { channel: 'telegram', chat: '-1' }, dimensions: ['chat', 'sender'] }],
      {},
    ],
    [
      'a rule like all other places that goes',
      [{ match: { chat: '-1' }, dimensions: ['chat'] }, support],
      [support],
      {},
    ],
    [
      'a chat that joined all that others set apart',
      [{ match: { chat: '-1' }, dimensions: ['chat'] }],
      [],
      { dimensions: ['chat', 'sender'] },
    ],
    [
      'another order for all of a chat',
      [{ match: { chat: '-1' }, dimensions: ['chat', 'sender'] }],
      [{ match: { chat: '-1' }, dimensions: ['sender', 'chat'] }],
      {},
    ],
  ])('F-H14: %s joins nobody', (_what, before, after, rest) => {
    expect(opened(before, after, rest)).toEqual([])
  })
})

describe('sessions that a rule joins with those of other places', () => {
  it.each<[string, DispatchRule, Partial<RoutingPolicy>, string]>([
    [
      'a sender whose messages are told apart by chat',
      { match: { sender: 'slack:u1' }, dimensions: ['chat'] },
      { channelDimensions: { slack: ['sender'] } },
      'sender slack:u1: sessions by: chat (was sender)',
    ],
    [
      'a space whose chats are told apart, where a space is known by its type as well',
      { match: { space: 't1' }, dimensions: ['chat'] },
      { dimensions: ['space'] },
      'space t1: sessions by: chat (was space)',
    ],
    [
      'a chat whose topics are told apart, where a chat is known by its type as well',
      { match: { chat: '1' }, dimensions: ['topic'] },
      { dimensions: [], channelDimensions: { slack: ['chat', 'topic'] } },
      'chat 1: sessions by: topic (was chat, topic)',
    ],
  ])('F-H14: %s, is told', (_what, rule, rest, line) => {
    expect(opened([], [rule], rest)).toContainEqual(expect.stringContaining(`routing.dispatch: ${line}`))
  })

  it('F-H14: a sender in one topic who gets sessions of their own shares none', () => {
    const rule: DispatchRule = { match: { topic: '7', sender: 'bob' }, dimensions: ['chat', 'sender'] }
    expect(opened([], [rule], { dimensions: [], channelDimensions: { slack: ['chat', 'topic'] } })).toEqual([])
  })
})

describe('sessions that a reload joins where the case of an id counts', () => {
  const traits: RoutingPolicy['traits'] = {
    ...TRAITS,
    relay: {
      name: 'Relay',
      topics: 'threads',
      ids: { caseSensitive: true, ofTeams: false, shared: [], directChatIsPerson: false, examples: [] },
      variables: [],
    },
  }
  const rest = { agents: agents('main', 'second'), traits }

  it('F-H14: rules for ids that differ in case alone are about one chat on other platforms', () => {
    const first: DispatchRule = { match: { chat: 'Media', mentioned: true } }
    const second: DispatchRule = { match: { chat: 'media' }, agent: 'second' }
    expect(opened([first, second], [second, first], rest)).toEqual([
      'routing.dispatch: chat media, mentioned true: agent second (was main)',
    ])
  })

  it('F-H14: a rule for such an id is told on each platform as the id is read there', () => {
    const dispatch: readonly DispatchRule[] = [{ match: { chat: 'Media' }, dimensions: ['chat', 'topic', 'sender'] }]
    const { narrower } = compareAccess(policy(rest), policy({ ...rest, dispatch }))
    expect(narrower.toSorted()).toEqual([
      'routing.dispatch: chat Media: sessions by: chat, topic, sender (was chat)',
      'routing.dispatch: chat media: sessions by: chat, topic, sender (was chat)',
      'routing.dispatch: chat media: sessions by: chat, topic, sender (was chat, topic)',
    ])
  })

  it('F-H14: an id of a chat, a sender, a person or a bot is another one in another case', () => {
    const media = (chat: string): DispatchRule => ({ match: { chat }, agent: 'second' })
    expect(opened([media('Media')], [media('media')], rest)).toEqual([
      'routing.dispatch: chat media: agent second (was main)',
      'routing.dispatch: chat Media: agent main (was second)',
    ])
    const from = (sender: string): DispatchRule => ({ match: { sender }, agent: 'second' })
    expect(opened([from('relay:Ada')], [from('relay:ada')], rest)).toContain(
      'routing.dispatch: sender relay:ada: agent second (was main)',
    )
    expect(opened([from('Ada')], [from('ada')], rest)).toContain(
      'routing.dispatch: sender ada: agent second (was main)',
    )
    const known = (id: string, botId: string) =>
      policy({
        ...rest,
        people: [owner('ada', id)],
        access: {
          direct: 'owner',
          groups: [{ match: {}, who: 'owner', trigger: 'mention', bots: 'allow', botIds: [botId] }],
        },
      })
    expect(compareAccess(known('Ada', 'Bot'), known('ada', 'bot')).wider).toEqual([
      'people: id ada: owner (was guest)',
      'routing.access.groups: any other group: bot bot: allow (was context)',
    ])
  })
})

describe('a reload of a large policy', () => {
  const chats = Array.from({ length: 500 }, (_, at): DispatchRule => ({ match: { chat: `-${at}` }, agent: 'second' }))
  const senders = Array.from({ length: 500 }, (_, at): DispatchRule => ({ match: { sender: `telegram:${at}` } }))
  const rest = { agents: agents('main', 'second') }

  it('F-H14: rules that meet in too many places are one line, which says the wider', () => {
    const line = 'too many rules have changed places to compare them; take it that they let more be seen or done'
    expect(opened([...chats, ...senders], [...senders, ...chats], rest)).toEqual([`routing.dispatch: ${line}`])
    const [was, is] = [
      [...chats, ...senders],
      [...senders, ...chats],
    ].map((rules) =>
      policy({
        access: {
          direct: 'owner',
          groups: rules.map(({ match: { chat, sender } }) => ({
            match: chat === undefined ? { topic: `${sender}` } : { chat },
            who: 'public',
            trigger: 'mention',
          })),
        },
      }),
    )
    if (!was || !is) throw new Error('there are two policies')
    expect(compareAccess(was, is).wider).toEqual([`routing.access.groups: ${line}`])
  })

  it('F-H14: what is left when there were too many pairs to try counts as joined', () => {
    const byAccount = (name: string, dimensions: readonly string[], size: number): readonly DispatchRule[] =>
      Array.from({ length: size }, (_, at) => ({ match: { channel: 'telegram', account: `${name}${at}` }, dimensions }))
    const turned = (size: number): readonly string[] => {
      const others = byAccount('b', ['sender', 'chat'], size)
      return opened(
        [...byAccount('a', ['chat', 'sender'], size), ...others],
        [...byAccount('a', ['sender', 'chat'], size), ...others],
      )
    }
    // No session is of two accounts.
    expect(turned(60)).toEqual([])
    expect(turned(80)).toContain(
      'routing.dispatch: channel telegram, account a79: sessions by: sender, chat (was chat, sender), shared with channel telegram, account b0',
    )
  })

  it('F-H14: a rule in the middle is told alone, and what is more than somebody reads is counted', () => {
    const middle: DispatchRule = { match: { chat: 'vip' }, agent: 'second' }
    expect(opened([...chats, ...senders], [...chats, middle, ...senders], rest)).toContain(
      'routing.dispatch: chat vip: agent second (was main)',
    )
    const people = Array.from({ length: 300 }, (_, at) => member(`m${at}`))
    const { wider } = compareAccess(policy({ people: [owner('ada')] }), policy({ people: [owner('ada'), ...people] }))
    expect(wider).toHaveLength(101)
    expect(wider.at(-1)).toBe('people: 200 more changes')
  })
})
