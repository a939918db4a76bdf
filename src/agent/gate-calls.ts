import { errorCode, toError } from '../core/errors.ts'
import type { ToolContext, ToolReach } from '../core/turn.ts'
import { type CallPlan, errorResult } from './plan-calls.ts'

type Running = Extract<CallPlan, { kind: 'run' }>

/**
 * Returns the plans of a step with those calls denied that act beyond their conversation. It is asked before any intent
 * is on record, and again when a crash has interrupted the step. The model has written all calls of a step before it
 * has read a result of one, so what one of them brings changes nothing for the others.
 */
export function gateCalls(
  plans: readonly CallPlan[],
  context: Omit<ToolContext, 'callId'>,
): Promise<readonly CallPlan[]> {
  return Promise.all(plans.map((plan) => (plan.kind === 'run' ? gated(plan, context) : plan)))
}

async function gated(plan: Running, context: Omit<ToolContext, 'callId'>): Promise<CallPlan> {
  const { call } = plan
  try {
    if ((await reachOf(plan, context)) !== 'beyond') return plan
    const text = `Denied: ${call.name} acts outside of this conversation, and nobody has allowed that. Answer here without it.`
    return { kind: 'answered', result: { ...errorResult(call, text), denied: true } }
  } catch (error) {
    const result = errorResult(call, toError(error).message)
    return { kind: 'answered', result: errorCode(error) === 'forbidden' ? { ...result, denied: true } : result }
  }
}

async function reachOf({ call, tool }: Running, context: Omit<ToolContext, 'callId'>): Promise<ToolReach> {
  const { reach = 'beyond' } = tool
  return typeof reach === 'function' ? reach(call.args, { ...context, callId: call.id }) : reach
}
