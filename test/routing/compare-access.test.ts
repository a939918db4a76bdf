import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Audience, GroupRule, RoutingPolicy, SendRule } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { findGroupRule } from '../../src/routing/group-rules.ts'
import { member, owner, policy, routingOf } from '../fakes/routing-policy.ts'

const rule = (who: Audience, match: GroupRule['match'] = {}): GroupRule => ({ match, who, trigger: 'mention' })
const groups = (...rules: readonly GroupRule[]): RoutingPolicy => policy({ access: { direct: 'owner', groups: rules } })

describe('what a changed policy does', () => {
  it('H14: is nothing when nothing has changed', () => {
    const same = groups(rule('public', { chat: '-100' }), rule('owner'))
    expect(compareAccess(same, same)).toEqual({ wider: [], narrower: [], other: [] })
  })

  it('H14: a role that rises is wider, one that falls is narrower, by person and by id', () => {
    const before = policy({ people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')] })
    const after = policy({ people: [owner('ada', 'telegram:111', 'discord:222'), member('carol', 'telegram:444')] })
    expect(compareAccess(before, after)).toMatchObject({
      wider: ['people: id discord:222: owner (was guest)', 'people: carol: member (was guest)'],
      narrower: ['people: bob: guest (was member)'],
    })
  })

  it('H14: direct chats', () => {
    const direct = (audience: Audience) => policy({ access: { direct: audience, groups: [] } })
    const line = 'routing.access.direct: public (was owner)'
    expect(compareAccess(direct('owner'), direct('public')).wider).toEqual([line])
    expect(compareAccess(direct('public'), direct('allowlist')).narrower).toHaveLength(1)
  })

  it('H14: a rule that moved up is wider where it meets another', () => {
    const narrow = rule('owner', { chat: '-100' })
    const wide = rule('public', { channel: 'telegram' })
    expect(compareAccess(groups(narrow, wide), groups(wide, narrow)).wider).toEqual([
      'routing.access.groups: channel telegram, chat -100: public (was owner)',
    ])
    expect(compareAccess(groups(), groups(rule('public'))).wider).toEqual([
      'routing.access.groups: any other group: public (was owner)',
    ])
  })

  it('H14: whatever the rules, no place gets wider that no line tells of', () => {
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

  it('H14: sending: a denial that is gone and a permission that is new are wider', () => {
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

  it('H14: a bot that is heard somewhere is wider, one that is not any more is narrower', () => {
    const heard = groups({ ...rule('public', { chat: '-100' }), bots: 'allow', botIds: ['telegram:9'] })
    const without = groups({ ...rule('public', { chat: '-100' }), bots: 'allow' })
    const line = 'routing.access.groups: chat -100: bot telegram:9 (allow)'
    expect(compareAccess(without, heard).wider).toEqual([`${line}: added`])
    expect(compareAccess(heard, without).narrower).toEqual([`${line}: taken out`])
  })

  it('what lets nobody in and keeps nobody out is named apart', () => {
    const always = policy({ access: { direct: 'owner', groups: [{ match: {}, who: 'owner', trigger: 'always' }] } })
    expect(compareAccess(groups(rule('owner')), { ...always, direct: 'person' })).toEqual({
      wider: [],
      narrower: [],
      other: ['routing.access.groups: changed', 'direct: changed'],
    })
  })
})
