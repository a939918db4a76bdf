import type { CallGate, GateVerdict, ToolReach } from '../core/call-gate.ts'
import { errorCode, toError } from '../core/errors.ts'
import type { AgentSteps, ToolContext } from '../core/turn.ts'
import { type CallPlan, errorResult } from './plan-calls.ts'

type Running = Extract<CallPlan, { kind: 'run' }>
type Judged = { readonly plan: CallPlan; readonly ask?: Extract<GateVerdict, { kind: 'ask' }> }

interface Gating {
  readonly context: Omit<ToolContext, 'callId'>
  readonly gate: CallGate | undefined
}

/**
 * Returns the plans of a step with those calls answered that may not be made. Where a person has to agree, the question
 * is journaled, and the step waits for the answer. It is asked before any intent is on record, and again when a crash
 * has interrupted the step. The model has written all calls of a step before it has read a result of one, so what one
 * of them brings changes nothing for the others.
 */
export async function* gateCalls(plans: readonly CallPlan[], gating: Gating): AgentSteps<readonly CallPlan[]> {
  const judged: Judged[] = []
  for (const plan of plans) {
    const one: Judged = plan.kind === 'run' ? await judge(plan, gating) : { plan }
    judged.push(one)
    if (one.plan.kind !== 'run' || one.ask === undefined || one.ask.asked) continue
    const { id: callId, name: tool, args } = one.plan.call
    // On record before the next is judged: how many questions are open counts.
    yield { type: 'approval_requested', data: { code: one.ask.code, callId, tool, args } }
  }
  return Promise.all(judged.map(({ plan, ask }) => (plan.kind === 'run' && ask ? answered(plan, ask, gating) : plan)))
}

async function judge(plan: Running, { context, gate }: Gating): Promise<Judged> {
  const { call } = plan
  try {
    const reach = await reachOf(plan, context)
    const { class: kind, keepsWords = kind !== 'pure' } = plan.tool
    const asked = { callId: call.id, tool: call.name, args: call.args, reach, keepsWords }
    const verdict = await (gate ?? CLOSED).judge(asked)
    if (verdict.kind === 'ask') return { plan, ask: verdict }
    return { plan: verdict.kind === 'allow' ? plan : denied(plan, verdict.reason) }
  } catch (error) {
    const result = errorResult(call, toError(error).message)
    return {
      plan: { kind: 'answered', result: errorCode(error) === 'forbidden' ? { ...result, denied: true } : result },
    }
  }
}

/** The gate of what has nobody to ask. */
const CLOSED: Pick<CallGate, 'judge'> = {
  judge: async ({ tool, reach }) =>
    reach === 'beyond'
      ? { kind: 'deny', reason: `Denied: ${tool} acts outside of this conversation. Answer here without it.` }
      : { kind: 'allow' },
}

async function answered(
  plan: Running,
  { code }: { readonly code: string },
  { gate, context }: Gating,
): Promise<CallPlan> {
  const outcome = (await gate?.outcome(code, context.signal)) ?? { kind: 'open' }
  switch (outcome.kind) {
    case 'allowed':
      return plan
    case 'denied':
      return denied(plan, `Denied: ${outcome.by} has refused this call. Do not try it again in other words.`)
    case 'refused':
      return denied(plan, outcome.reason)
    case 'open':
      return { kind: 'answered', result: errorResult(plan.call, NOT_YET) }
  }
}

const NOT_YET =
  'Not yet approved: nobody has answered so far. Continue without it, and say that it waits for an approval. Should somebody allow it within ten minutes, it is done then, and the result is shown to you here.'

function denied({ call }: Running, reason: string): CallPlan {
  return { kind: 'answered', result: { ...errorResult(call, reason), denied: true } }
}

async function reachOf({ call, tool }: Running, context: Omit<ToolContext, 'callId'>): Promise<ToolReach> {
  const { reach = 'beyond' } = tool
  return typeof reach === 'function' ? reach(call.args, { ...context, callId: call.id }) : reach
}
