import { describe, expect, it } from 'vitest'
import type { Dispatch, Identity, Route } from '../../src/core/dispatch.ts'
import { toAgentId, toPersonId, toSessionId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import { decide as decideEvent, routeOf } from '../fakes/decide.ts'
import { direct, dispatchOf, group, message, routeFacts, user } from '../fakes/dispatch.ts'
import { agents, household, routingOf } from '../fakes/routing-policy.ts'

const OWNER: Identity = { role: 'owner', person: toPersonId('ada') }

const decide = (policy: RoutingPolicy, dispatch: Dispatch) => decideRoute(routingOf(policy), routeFacts(), dispatch)

/** The session that a message of Ada's at this place would have. */
function routeAt(at = group('-100')): Route {
  return routeOf(decideEvent(household(), message({ address: at, mentioned: true })))
}

function posted(identity: Identity, at = group('-100'), route = routeAt(at)): Dispatch {
  const sender = user('s', { kind: 'bot' })
  const from = { session: toSessionId('s'), displayKey: 'telegram:direct:111', agent: toAgentId('main'), hops: 1 }
  return dispatchOf(message({ address: at, sender, mentioned: true }), {
    origin: 'tool',
    reply: { address: at, elsewhere: 'only' },
    posted: { session: toSessionId('t'), route, identity, from },
  })
}

describe('a text for a session that its caller named', () => {
  it('goes to that very session and its agent, whatever the rules make of its chat', () => {
    const route = { ...routeAt(), agent: toAgentId('second') }
    const policy = household({
      agents: agents('main', 'second'),
      dispatch: [{ match: { chat: '-100' }, agent: 'main', dimensions: ['sender'] }],
    })
    const decision = decide(policy, posted(OWNER, group('-100'), route))
    expect(decision).toMatchObject({ kind: 'run', route })
    expect(decision.trace.find(({ stage }) => stage === 'session')?.because).toBe('the session its caller named')
  })

  it('has the authority of whoever asked, not of its sender', () => {
    const decision = decide(household(), posted({ role: 'member', person: toPersonId('bob') }))
    expect(decision).toMatchObject({ kind: 'run', identity: { role: 'member', person: 'bob' } })
    expect(decision.trace.find(({ stage }) => stage === 'identity')?.because).toBe(
      'member bob, whose turn or client asks',
    )
  })

  it('passes the gate of the place it is for', () => {
    const decision = decide(household(), posted({ role: 'guest' }, direct('444')))
    expect(decision).toMatchObject({ kind: 'refuse', reason: 'stranger' })
  })

  it('T30: is refused where the send policy denies the session, and not stored there', () => {
    const denied = household({
      sendPolicy: { rules: [{ match: { chat: '-100' }, action: 'deny' }], default: 'allow' },
    })
    const decision = decide(denied, posted(OWNER))
    expect(decision).toMatchObject({ kind: 'refuse', reason: 'send_policy' })
    expect(decision.trace.find(({ stage }) => stage === 'send-policy')).toMatchObject({ verdict: 'stop' })
  })

  it('S32: what is only put on record is context, wherever it goes', () => {
    for (const at of [group('-100'), direct('111')]) {
      const dispatch = posted(OWNER, at)
      const append = dispatch.posted && { ...dispatch.posted, append: true as const }
      const decision = decide(household(), { ...dispatch, ...(append ? { posted: append } : {}) })
      expect(decision).toMatchObject({ kind: 'context', reason: 'appended' })
    }
  })
})
