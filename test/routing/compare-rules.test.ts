import { describe, expect, it } from 'vitest'
import type { DispatchRule, RoutingPolicy } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { agents, member, owner, policy } from '../fakes/routing-policy.ts'

const TWO_AGENTS: Partial<RoutingPolicy> = { agents: agents('main', 'second') }
const PEOPLE: Partial<RoutingPolicy> = { ...TWO_AGENTS, people: [owner('ada'), member('bob')] }
const from = (sender: string, agent?: string): DispatchRule => ({ match: { sender }, ...(agent ? { agent } : {}) })

/** What two lists of dispatch rules open. */
function opened(before: readonly DispatchRule[], after: readonly DispatchRule[], rest: Partial<RoutingPolicy>) {
  return compareAccess(policy({ ...rest, dispatch: before }), policy({ ...rest, dispatch: after })).wider
}

/** What it opens that a rule for one sender and one for another change places. */
function swapped(one: string, other: string, rest: Partial<RoutingPolicy>): readonly string[] {
  const rules = [from(one, 'second'), from(other)]
  return opened(rules, rules.toReversed(), rest)
}

describe('two rules for senders that change places', () => {
  it('F-H14: are about nobody where both are people, or both are ids that differ', () => {
    expect(swapped('ada', 'bob', PEOPLE)).toEqual([])
    expect(swapped('5', '6', TWO_AGENTS)).toEqual([])
  })

  it('F-H14: are about whoever has both names, where one is a person and the other an id', () => {
    expect(swapped('ada', '5', PEOPLE)).toEqual(['routing.dispatch: sender ada, sender 5: agent main (was second)'])
  })

  it('F-H14: are about whoever has both names, where people only become people by this change', () => {
    const rules = [from('ada', 'second'), from('bob')]
    const after = policy({ ...PEOPLE, dispatch: rules.toReversed() })
    expect(compareAccess(policy({ ...TWO_AGENTS, dispatch: rules }), after).wider).toContain(
      'routing.dispatch: sender ada, sender bob: agent main (was second)',
    )
  })
})

describe('a rule for a place', () => {
  it('F-H14: is compared for all senders but the one whom an earlier rule is about', () => {
    const first: DispatchRule = { match: { chat: '-1', sender: '5' }, agent: 'second' }
    const place: DispatchRule = { match: { chat: '-1' } }
    expect(opened([first, place], [first, { ...place, agent: 'second' }], TWO_AGENTS)).toEqual([
      'routing.dispatch: chat -1: agent second (was main)',
    ])
  })

  it('F-H14: is compared on its own platform alone', () => {
    const dispatch: readonly DispatchRule[] = [
      { match: { channel: 'telegram', chat: '-1' }, dimensions: ['chat', 'topic', 'sender'] },
    ]
    expect(compareAccess(policy(), policy({ dispatch })).narrower).toEqual([
      'routing.dispatch: channel telegram, chat -1: sessions by: chat, topic, sender (was chat)',
    ])
  })

  it('F-H14: and one for another agent share no session', () => {
    const second = (...dimensions: readonly string[]): DispatchRule => ({
      match: { chat: '-2', mentioned: true },
      agent: 'second',
      dimensions,
    })
    const main: DispatchRule = { match: { chat: '-2' }, dimensions: ['chat', 'sender'] }
    expect(opened([second('chat'), main], [second('chat', 'sender'), main], TWO_AGENTS)).toEqual([])
  })

  it('F-H14: shares no session with all other places when they begin to tell apart what it tells apart', () => {
    const dispatch: readonly DispatchRule[] = [{ match: { chat: '-2' }, dimensions: ['chat', 'sender'] }]
    const usual = (...dimensions: RoutingPolicy['dimensions']) => policy({ dispatch, dimensions })
    expect(compareAccess(usual('chat'), usual('chat', 'sender')).wider).toEqual([])
  })
})
