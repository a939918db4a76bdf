import { describe, expect, it } from 'vitest'
import type { Dispatch } from '../../src/core/dispatch.ts'
import { type TraceId, toAgentId, toPersonId, toScheduleId } from '../../src/core/ids.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import { placeSession } from '../../src/routing/place-session.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { direct, dispatchOf, group, message, routeFacts, user } from '../fakes/dispatch.ts'
import { agents, household, routingOf } from '../fakes/routing-policy.ts'

const MORNING = toScheduleId('morning')

function scheduled(changes: Partial<NonNullable<Dispatch['schedule']>> = {}, at = group('-100')): Dispatch {
  const event = message({ address: at, sender: user('schedule:morning'), mentioned: true })
  return dispatchOf(event, { origin: 'schedule', schedule: { id: MORNING, creator: { role: 'owner' }, ...changes } })
}

describe('a run of a schedule', () => {
  const policy = household({
    agents: agents('main', 'second'),
    dispatch: [{ match: { chat: '-100' }, agent: 'second', dimensions: ['sender'] }],
  })
  const run = (dispatch: Dispatch) => decideRoute(routingOf(policy), routeFacts(), dispatch)

  it('S2, T4: has one session, shown as cron:<id>, wherever it delivers to and whatever the rules there say', () => {
    const [here, there] = [run(scheduled()), run(scheduled({}, direct('111')))].map(routeOf)
    expect(here).toMatchObject({ displayKey: 'cron:morning', kind: 'cron', agent: 'main', matchedBy: 'default' })
    expect(there?.scopeKey).toBe(here?.scopeKey)
  })

  it('is run by the agent it names', () => {
    expect(routeOf(run(scheduled({ agent: toAgentId('second') })))).toMatchObject({ agent: 'second' })
  })

  it('has the authority of whoever made it, not of its sender', () => {
    const decision = run(scheduled({ creator: { role: 'member', person: toPersonId('bob') } }))
    expect(decision).toMatchObject({ kind: 'run', identity: { role: 'member', person: 'bob' } })
    expect(decision.trace.find(({ stage }) => stage === 'identity')?.because).toBe('member bob, who made the schedule')
  })
})

describe('the session of a place', () => {
  const posting = { traceId: 'tr_1' as TraceId, receivedAt: 5 }
  const keyOf = (policy = household(), address = group('-100')) =>
    placeSession(routingOf(policy), routeFacts(), { ...posting, address }).route.scopeKey

  it('is the one in which the next message there is found', () => {
    const next = decide(household(), message({ address: group('-100'), mentioned: true }))
    expect(keyOf()).toBe(routeOf(next).scopeKey)
  })

  it('of a direct chat on Telegram is that of its person, who may share one over chats', () => {
    const policy = household({ direct: 'main' })
    const next = decide(policy, message({ address: direct('111'), sender: user('111') }))
    expect(keyOf(policy, direct('111'))).toBe(routeOf(next).scopeKey)
  })

  it('is made as if somebody had written there', () => {
    const { dispatch } = placeSession(routingOf(household()), routeFacts(), { ...posting, address: group('-100') })
    expect(dispatch).toMatchObject({ origin: 'platform', receivedAt: 5, event: { address: group('-100') } })
  })
})
