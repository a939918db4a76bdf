import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { agents, policy } from '../fakes/routing-policy.ts'

const TWO_AGENTS: Partial<RoutingPolicy> = { agents: agents('main', 'second') }
const compare = (before: Partial<RoutingPolicy>, after: Partial<RoutingPolicy>) =>
  compareAccess(policy(before), policy(after))

describe('one session for everything that goes', () => {
  it.each<[string, Partial<RoutingPolicy>]>([
    ['a list for all platforms', { dimensions: [] }],
    ['the list of one platform', { channelDimensions: { slack: [] } }],
    ['a dispatch rule', { dispatch: [{ match: { chat: '-1' }, dimensions: [] }] }],
  ])('F-H14: is wider where %s joins chats', (_what, joining) => {
    expect(compare({ ...joining, scope: 'global' }, joining).wider).toEqual(['session.scope: routed (was global)'])
  })

  it('F-H14: is only narrower where no list joins chats; a rule without a list joins none', () => {
    const apart: Partial<RoutingPolicy> = { ...TWO_AGENTS, dispatch: [{ match: { chat: '-1' }, agent: 'second' }] }
    expect(compare({ ...apart, scope: 'global' }, apart)).toMatchObject({
      wider: [],
      narrower: ['session.scope: routed (was global)'],
    })
  })
})

describe('direct chats', () => {
  it('F-H14: that become sessions of their own are wider where a list joins chats', () => {
    const joining: Partial<RoutingPolicy> = { dimensions: [] }
    expect(compare({ ...joining, direct: 'main' }, joining).wider).toEqual(['session.direct: chat (was main)'])
  })

  it('F-H14: that are joined are nothing narrower, and are told beside one session for everything', () => {
    expect(compare({}, { direct: 'person' }).narrower).toEqual([])
    expect(compare({}, { direct: 'main', scope: 'global' }).wider).toEqual([
      'session.scope: global (was routed)',
      'session.direct: main (was chat)',
    ])
  })
})

describe('a dispatch rule', () => {
  it('F-H14: without a constraint changes nothing', () => {
    expect(compare(TWO_AGENTS, { ...TWO_AGENTS, dispatch: [{ match: {}, agent: 'second' }] }).wider).toEqual([])
  })

  it('F-H14: names its agent in any case', () => {
    const dispatch: RoutingPolicy['dispatch'] = [{ match: { chat: '-1' }, agent: 'SECOND' }]
    expect(compare(TWO_AGENTS, { ...TWO_AGENTS, dispatch }).wider).toEqual([
      'routing.dispatch: chat -1: agent second (was main)',
    ])
  })

  it('F-H14: whose dimensions nobody knows changes nothing', () => {
    const unknown = [{ match: { chat: '-1' }, dimensions: ['colour'] }] as unknown as RoutingPolicy['dispatch']
    expect(compare({}, { dispatch: unknown }).wider).toEqual([])
  })
})

describe('a list that names topics', () => {
  it('F-H14: tells no more apart than one of chats where topics are rooms', () => {
    const by = (...telegram: RoutingPolicy['dimensions']) => ({ channelDimensions: { telegram } })
    expect(compare(by('chat'), by('chat', 'topic'))).toMatchObject({ wider: [], narrower: [] })
    const threads = (...slack: RoutingPolicy['dimensions']) => ({ channelDimensions: { slack } })
    expect(compare(threads('chat'), threads('chat', 'topic')).narrower).toHaveLength(1)
  })
})
