import { describe, expect, it } from 'vitest'
import type { SessionSource } from '../../src/core/session.ts'
import { sourceRoute } from '../../src/routing/source-route.ts'
import { agents, policy, routingOf } from '../fakes/routing-policy.ts'

const routing = routingOf(policy({ agents: agents('main', 'second') }))
const route = (kind: SessionSource['kind'], triggerId: string) =>
  sourceRoute(routing, { kind, interactive: false, triggerId })

describe('a session that no chat opened', () => {
  it('T4, T34: is hook:<uuid> or node-<id>, of the default agent, each with a key of its own', () => {
    expect(route('hook', '5f0c')).toMatchObject({ displayKey: 'hook:5f0c', kind: 'hook', agent: 'main' })
    expect(route('node', 'kitchen')).toMatchObject({ displayKey: 'node-kitchen', kind: 'node', chatType: 'direct' })
    expect(route('hook', '5f0c').scopeKey).toMatch(/^sk_v1_[0-9a-f]{64}$/)
    expect(
      new Set([route('hook', 'a'), route('hook', 'b'), route('node', 'a')].map(({ scopeKey }) => scopeKey)).size,
    ).toBe(3)
  })

  it('has no key of its own where its source has none', () => {
    expect(() => route('cli', 'work')).toThrow(expect.objectContaining({ code: 'invalid' }))
  })
})
