import type { Decided, Dispatch } from '../core/dispatch.ts'
import type { Routing } from './compile-routing.ts'
import { decideRoute } from './decide-route.ts'
import type { RouteFacts } from './route-facts.ts'

/**
 * Decides what came in. A message that is answered in a new thread is routed with its own id as topic, and what nobody
 * answers stays where it was said (K12).
 */
export function decideDispatch(routing: Routing, facts: RouteFacts, received: Dispatch): Decided {
  const decision = decideRoute(routing, facts, received)
  const dispatch = decision.kind === 'run' ? insideOpened(received) : received
  return dispatch === received ? { dispatch, decision } : { dispatch, decision: decideRoute(routing, facts, dispatch) }
}

function insideOpened(dispatch: Dispatch): Dispatch {
  const { event, reply } = dispatch
  const topic = 'opens' in event ? event.opens : undefined
  if (topic === undefined) return dispatch
  return {
    ...dispatch,
    event: { ...event, address: { ...event.address, topic } },
    reply: { ...reply, address: { ...reply.address, topic } },
  }
}
