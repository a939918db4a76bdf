import type { Decision, Dispatch, Route, TraceStep } from '../../src/core/dispatch.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import type { RouteFacts } from '../../src/routing/route-facts.ts'
import { dispatchOf, routeFacts } from './dispatch.ts'
import { routingOf } from './routing-policy.ts'

export interface Circumstances {
  readonly dispatch?: Partial<Dispatch>
  readonly facts?: Partial<RouteFacts>
}

/** Compiles the policy and decides one event. */
export function decide(policy: RoutingPolicy, event: InboundEvent, { dispatch, facts }: Circumstances = {}): Decision {
  return decideRoute(routingOf(policy), routeFacts(facts), dispatchOf(event, dispatch))
}

/** `run/direct`, `refuse/stranger`: the decision in short. */
export function verdict(decision: Decision): string {
  return `${decision.kind}/${decision.reason}`
}

/** The route of a decision that must have one. */
export function routeOf(decision: Decision): Route {
  if ('route' in decision) return decision.route
  throw new Error(`${verdict(decision)} has no route: ${decision.trace.at(-1)?.because}`)
}

/** The step that said no, or the last one. */
export function decidingStep(decision: Decision): TraceStep | undefined {
  return decision.trace.find(({ verdict }) => verdict === 'stop') ?? decision.trace.at(-1)
}
