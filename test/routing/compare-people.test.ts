import { describe, expect, it } from 'vitest'
import type { PersonPolicy, RoutingPolicy } from '../../src/core/policy.ts'
import { compareAccess } from '../../src/routing/compare-access.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'

const ADA = owner('ada', 'telegram:1')

/** What another list of people opens. */
function opened(
  before: readonly PersonPolicy[],
  after: readonly PersonPolicy[],
  rest: Partial<RoutingPolicy> = {},
): readonly string[] {
  return compareAccess(policy({ ...rest, people: before }), policy({ ...rest, people: after })).wider
}

describe('another list of people', () => {
  it('F-H14: is wider where chats share sessions, for each id and each person it is about', () => {
    const bob = member('bob', 'telegram:2')
    expect(opened([ADA, bob], [ADA], { dimensions: [] })).toEqual([
      'people: bob: speaks in a session that joins chats',
      'people: id telegram:2: speaks in a session that joins chats',
      'people: id telegram:2: open to whom /admit lets in (was a member, whom routing.access.direct leaves out)',
    ])
    expect(opened([ADA, bob], [ADA])).toEqual([
      'people: id telegram:2: open to whom /admit lets in (was a member, whom routing.access.direct leaves out)',
    ])
  })

  it('F-H14: is wider for an id that leaves the person, and by that a rule which names the id', () => {
    const deny: RoutingPolicy['sendPolicy'] = {
      rules: [{ match: { person: 'telegram:2' }, action: 'deny' }],
      default: 'allow',
    }
    const people = (holder: string) => [
      ADA,
      member('bob', ...(holder === 'bob' ? ['telegram:2'] : [])),
      member('cy', ...(holder === 'cy' ? ['telegram:2'] : [])),
    ]
    expect(opened(people('bob'), people('cy'), { sendPolicy: deny, access: { direct: 'public', groups: [] } })).toEqual(
      ['people: id telegram:2: cy (was bob)', 'people: id telegram:2: free of the rules for bob'],
    )
  })

  it('F-H14: opens the claim link when no owner is left, although members are', () => {
    const bob = member('bob', 'telegram:2')
    expect(opened([ADA, bob], [bob])).toEqual(['people: open to whoever has the claim link: true (was false)'])
  })
})
