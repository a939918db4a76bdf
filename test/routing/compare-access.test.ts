import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Audience, GroupRule, RoutingPolicy, SendRule } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { findGroupRule } from '../../src/routing/group-rules.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { agents, member, owner, policy, routingOf } from '../fakes/routing-policy.ts'

const rule = (who: Audience, match: GroupRule['match'] = {}): GroupRule => ({ match, who, trigger: 'mention' })
const groups = (...rules: readonly GroupRule[]): RoutingPolicy => policy({ access: { direct: 'owner', groups: rules } })

/** With such a rule a mention says who answers, so that more and fewer mentions both are wider. */
const MENTIONED: RoutingPolicy['dispatch'] = [{ match: { mentioned: true } }]
const threads = (followed: Partial<GroupRule>): RoutingPolicy['access'] => ({
  direct: 'owner',
  groups: [{ ...rule('public'), ...followed }],
})

describe('what a changed policy does', () => {
  it('F-H14: is nothing when nothing has changed', () => {
    const same = groups(rule('public', { chat: '-100' }), rule('owner'))
    expect(compareAccess(same, same)).toEqual({ wider: [], narrower: [], other: [] })
  })

  it('F-H14: a role that rises is wider, one that falls is narrower, by person and by id', () => {
    const before = policy({ people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')] })
    const after = policy({ people: [owner('ada', 'telegram:111', 'discord:222'), member('carol', 'telegram:444')] })
    expect(compareAccess(before, after)).toMatchObject({
      wider: [
        'people: id telegram:444: carol (was bob)',
        'people: id discord:222: owner (was guest)',
        'people: carol: member (was guest)',
      ],
      narrower: ['people: bob: guest (was member)'],
    })
  })

  it('F-H14: direct chats', () => {
    const direct = (audience: Audience) => policy({ access: { direct: audience, groups: [] } })
    const line = 'routing.access.direct: public (was owner)'
    expect(compareAccess(direct('owner'), direct('public')).wider).toEqual([line])
    expect(compareAccess(direct('public'), direct('allowlist')).narrower).toHaveLength(1)
  })

  it('F-H14: a rule that moved up is wider where it meets another', () => {
    const narrow = rule('owner', { chat: '-100' })
    const wide = rule('public', { channel: 'telegram' })
    expect(compareAccess(groups(narrow, wide), groups(wide, narrow)).wider).toEqual([
      'routing.access.groups: channel telegram, chat -100: public (was owner)',
    ])
    expect(compareAccess(groups(), groups(rule('public'))).wider).toEqual([
      'routing.access.groups: any other group: public (was owner)',
    ])
  })

  it('F-H14: a first rule that lets all in leaves the place as open to requests as it was', () => {
    expect(compareAccess(groups(), groups(rule('public'))).narrower).toEqual([])
  })

  it('F-H14: whatever the rules, no place gets wider that no line tells of', () => {
    const ids = fc.constantFrom(undefined, 'a', 'b')
    const match = fc
      .record({ channel: fc.constantFrom(undefined, 'telegram', 'slack'), chat: ids, topic: ids })
      .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
    const who = fc.constantFrom<Audience>('owner', 'allowlist', 'public')
    const list = fc.array(fc.record({ match, who, trigger: fc.constant('mention' as const) }), { maxLength: 4 })
    const places = ['telegram', 'slack', 'discord'].flatMap((channel) =>
      ['a', 'b', 'c'].flatMap((chat) => [undefined, 'a', 'b'].map((topic) => ({ channel, chat, topic }))),
    )
    const rank = { owner: 0, allowlist: 1, public: 2 }
    const at = (of: RoutingPolicy, place: (typeof places)[number]): Audience => {
      const facts = {
        ...place,
        traits: CHANNELS.traits(place.channel),
        account: 'default',
        chatType: 'group',
        space: undefined,
        spaceType: undefined,
        formerChat: undefined,
      } as const
      return findGroupRule(routingOf(of).groups, facts)?.who ?? 'owner'
    }
    fc.assert(
      fc.property(list, list, (one, other) => {
        const [before, after] = [groups(...one), groups(...other)]
        const { wider, narrower } = compareAccess(before, after)
        const moves = places.map((place) => rank[at(after, place)] - rank[at(before, place)])
        if (moves.some((by) => by > 0)) expect(wider).not.toEqual([])
        if (moves.some((by) => by < 0)) expect(narrower).not.toEqual([])
      }),
    )
  })

  it('F-H14: sending: a denial that is gone and a permission that is new are wider', () => {
    const deny: SendRule = { match: { channel: 'discord' }, action: 'deny' }
    const send = (rules: readonly SendRule[], byDefault: 'allow' | 'deny' = 'allow') =>
      policy({ sendPolicy: { rules, default: byDefault } })
    expect(compareAccess(send([deny]), send([])).wider).toEqual([
      'session.sendPolicy: deny {"channel":"discord"}: taken out',
    ])
    expect(compareAccess(send([]), send([deny])).narrower).toHaveLength(1)
    expect(compareAccess(send([{ match: {} }], 'deny'), send([], 'deny')).narrower).toHaveLength(1)
    expect(compareAccess(send([], 'deny'), send([], 'allow')).wider).toHaveLength(2)
  })

  it('F-H14: a bot that is heard somewhere is wider, one that is not any more is narrower', () => {
    const heard = groups({ ...rule('public', { chat: '-100' }), bots: 'allow', botIds: ['telegram:9'] })
    const without = groups({ ...rule('public', { chat: '-100' }), bots: 'allow' })
    const line = 'routing.access.groups: chat -100: bot telegram:9'
    expect(compareAccess(without, heard).wider).toEqual([`${line}: allow (was context)`])
    expect(compareAccess(heard, without).narrower).toEqual([`${line}: context (was allow)`])
    const rewritten = groups({ ...rule('public', { chat: '-100' }), bots: 'allow', botIds: ['Telegram:9'] })
    expect(compareAccess(heard, rewritten)).toMatchObject({ wider: [], narrower: [] })
  })

  it.each(['context', 'mentioned', 'allow'] as const)(
    'F-H14: words of bots that are not listed are read: %s',
    (bots) => {
      const ignored = groups(rule('allowlist', { chat: '-100' }))
      const read = groups({ ...rule('allowlist', { chat: '-100' }), bots })
      const line = 'routing.access.groups: chat -100: bots that are not listed'
      expect(compareAccess(ignored, read).wider).toEqual([`${line}: context (was ignore)`])
      expect(compareAccess(read, ignored).narrower).toEqual([`${line}: ignore (was context)`])
    },
  )

  it('F-H14: a rule for another order of people, another name or another shape changes nothing, and is named apart', () => {
    const rules: RoutingPolicy['dispatch'] = [{ name: 'vip', match: { chat: '-100' }, dimensions: ['chat', 'topic'] }]
    const renamed: RoutingPolicy['dispatch'] = [
      { name: 'vip room', match: { chat: '-100' }, dimensions: ['topic', 'chat'] },
    ]
    const one = groups(rule('owner', { chat: '-100' }), rule('owner', { chat: '-200' }))
    const other = groups(rule('owner', { chat: '-200' }), rule('owner', { chat: '-100' }))
    expect(compareAccess({ ...one, dispatch: rules }, { ...other, dispatch: renamed })).toEqual({
      wider: [],
      narrower: [],
      other: ['routing.access: changed', 'routing.dispatch: changed'],
    })
  })

  it.each<[string, Partial<RoutingPolicy>, Partial<RoutingPolicy>, readonly string[]]>([
    ['scope', {}, { scope: 'global' }, ['session.scope: global (was routed)']],
    ['direct: main', {}, { direct: 'main' }, ['session.direct: main (was chat)']],
    ['direct: person', {}, { direct: 'person' }, ['session.direct: person (was chat)']],
    ['direct between the two', { direct: 'main' }, { direct: 'person' }, ['session.direct: person (was main)']],
    [
      'an empty list of dimensions',
      {},
      { dimensions: [] },
      ['session.dimensions: nothing, all chats of an account are one session (was chat)'],
    ],
    ['a dimension less', { dimensions: ['chat', 'sender'] }, {}, ['session.dimensions: chat (was chat, sender)']],
    [
      'threads that are joined',
      {},
      { channelDimensions: { discord: ['chat', 'topic'], slack: ['chat'] } },
      ['channels.slack.dimensions: chat (was chat, topic)'],
    ],
    [
      'a topic less where topics are not part of the chat',
      { dimensions: ['chat', 'topic'] },
      {},
      ['session.dimensions: chat (was chat, topic)'],
    ],
    [
      'dimensions of a dispatch rule',
      { dispatch: [{ match: { channel: 'telegram', chat: '-1' }, dimensions: ['chat', 'sender'] }] },
      { dispatch: [{ match: { channel: 'telegram', chat: '-1' }, dimensions: [] }] },
      [
        'routing.dispatch: channel telegram, chat -1: sessions by: nothing, all chats of an account are one session (was chat, sender)',
      ],
    ],
    [
      'another agent for a place',
      { agents: agents('main', 'second') },
      { agents: agents('main', 'second'), dispatch: [{ match: { chat: '-1' }, agent: 'second' }] },
      ['routing.dispatch: chat -1: agent second (was main)'],
    ],
    [
      'another agent for a sender',
      { agents: agents('main', 'second'), dispatch: [{ match: { sender: 'Ada', mentioned: true }, agent: 'second' }] },
      { agents: agents('main', 'second') },
      ['routing.dispatch: mentioned true, sender ada: agent main (was second)'],
    ],
    ['owners without a mention', { ownerAlwaysTriggers: false }, {}, ['routing.ownerAlwaysTriggers: true (was false)']],
    ['a wake word', { wakeWords: ['bot'] }, { wakeWords: ['Bot', 'you'] }, ['routing.wakeWords: "you": added']],
    ['edits', {}, { edits: 'rerun' }, ['routing.edits: rerun (was update)']],
    ['deletions', {}, { deletions: 'ignore' }, ['routing.deletions: ignore (was redact)']],
    [
      'the budget of bots',
      {},
      { botBudget: { turns: 21, tokens: 200_001, quietMinutes: 29 } },
      [
        'routing.botBudget.turns: 21 (was 20)',
        'routing.botBudget.tokens: 200001 (was 200000)',
        'routing.botBudget.quietMinutes: 29 (was 30)',
      ],
    ],
    [
      'an owner less',
      { people: [owner('ada', 'telegram:1')] },
      {},
      ['people: open to whoever has the claim link: true (was false)'],
    ],
    [
      'a person less, of whom a rule spoke',
      {
        people: [owner('ada', 'telegram:1'), member('bob', 'telegram:2')],
        sendPolicy: { rules: [{ match: { person: 'Bob' }, action: 'deny' }], default: 'allow' },
        access: { direct: 'public', groups: [] },
      },
      {
        people: [owner('ada', 'telegram:1'), member('bob')],
        sendPolicy: { rules: [{ match: { person: 'Bob' }, action: 'deny' }], default: 'allow' },
        access: { direct: 'public', groups: [] },
      },
      ['people: id telegram:2: free of the rules for bob'],
    ],
    [
      'a wake word less where a rule asks for a mention',
      { wakeWords: ['bot'], dispatch: MENTIONED },
      { dispatch: MENTIONED },
      ['routing.wakeWords: "bot": taken out'],
    ],
    [
      'a wake word that goes together with the rule that asked for a mention',
      { wakeWords: ['bot'], dispatch: MENTIONED },
      {},
      ['routing.wakeWords: "bot": taken out'],
    ],
    [
      'threads that nobody follows any more where a rule asks for a mention',
      { access: threads({ followThreads: true }), dispatch: MENTIONED },
      { access: threads({}), dispatch: MENTIONED },
      ['routing.access.groups: any other group: followThreads: false (was true)'],
    ],
  ])('F-H14: %s is wider, and the way back is not', (_what, before, after, wider) => {
    expect(compareAccess(policy(before), policy(after)).wider).toEqual(wider)
    const back = compareAccess(policy(after), policy(before))
    expect(back.wider.filter((line) => wider.includes(line))).toEqual([])
  })

  it('F-H14: an owner less opens no claim link where somebody has claimed the bot', () => {
    const [named, none] = [policy({ people: [owner('ada', 'telegram:1')] }), policy({})]
    expect(compareAccess(named, none, { claimed: true }).wider).toEqual([])
    expect(compareAccess(none, named, { claimed: true }).narrower).toEqual([])
  })

  it.each<[string, Partial<GroupRule>, Partial<GroupRule>, readonly string[]]>([
    ['trigger', {}, { trigger: 'always' }, ['trigger: always (was mention)']],
    ['trigger: never that is gone', { trigger: 'never' }, {}, ['trigger: mention (was never)']],
    ['threads that are followed', {}, { followThreads: true }, ['followThreads: true (was false)']],
    ['owners', { ownerAlwaysTriggers: false }, {}, ['ownerAlwaysTriggers: true (was false)']],
    ['own wake words', { wakeWords: [] }, { wakeWords: ['bot'] }, ['wakeWords: "bot": added']],
    ['own edits', { edits: 'ignore' }, {}, ['edits: update (was ignore)']],
    ['own deletions', {}, { deletions: 'ignore' }, ['deletions: ignore (was redact)']],
    [
      'a bot that is answered without a mention',
      { bots: 'mentioned', botIds: ['telegram:9'] },
      { bots: 'allow', botIds: ['telegram:9'] },
      ['bot telegram:9: allow (was mentioned)'],
    ],
  ])('F-H14: %s in a group rule is wider, and the way back narrower', (_what, before, after, wider) => {
    const of = (changes: Partial<GroupRule>) => groups({ ...rule('public', { chat: '-100' }), ...changes })
    const lines = wider.map((line) => `routing.access.groups: chat -100: ${line}`)
    expect(compareAccess(of(before), of(after))).toMatchObject({ wider: lines, narrower: [] })
    expect(compareAccess(of(after), of(before))).toMatchObject({ wider: [], narrower: [expect.anything()] })
  })

  it('F-H14: a rule that is gone is wider where another rule or none decides from then on', () => {
    const always: GroupRule = { ...rule('public', { channel: 'telegram' }), trigger: 'always' }
    const shut = rule('owner', { chat: '-100' })
    expect(compareAccess(groups(shut, always), groups(always)).wider).toEqual([
      'routing.access.groups: chat -100: open to whom /admit lets in: true (was false)',
      'routing.access.groups: channel telegram, chat -100: public (was owner)',
      'routing.access.groups: channel telegram, chat -100: trigger: always (was mention)',
    ])
  })
})
