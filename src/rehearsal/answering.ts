import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { GateKeeper } from './deferred.ts'
import type { FaultAction, FaultMoment, Interruption, PlayedFault } from './faults.ts'
import type { Answer } from './http-server.ts'
import { headersOf, sendBody } from './http-server.ts'

export interface FaultyCall {
  response: ServerResponse
  fault: PlayedFault
  /** Aborts when the server closes. */
  closing: AbortSignal
  /** Performs the effect of the call and returns the true answer. */
  effect(): Answer | Promise<Answer>
  /** Called when the fault ended the call before its effect. */
  skipped(): void
}

/** Plays a fault on one call: before the effect, after it, and in the bytes of the answer. */
export async function answerThroughFault(call: FaultyCall): Promise<void> {
  const { response, fault, closing } = call
  if (!(await meet(call, 'before'))) {
    if (!closing.aborted) call.skipped()
    return
  }
  const answer = await call.effect()
  if (!(await meet(call, 'after'))) return
  await sendShaped(response, { action: fault.action, answer, closing })
}

/** Returns false when the call ends here. */
export async function meet(
  { response, fault, closing }: Pick<FaultyCall, 'response' | 'fault' | 'closing'>,
  moment: FaultMoment,
): Promise<boolean> {
  const { action, gate } = fault
  if (!('when' in action) || action.when !== moment) return true
  return interrupt(action, { response, gate, closing })
}

async function interrupt(
  action: Interruption,
  { response, gate, closing }: { response: ServerResponse; gate: GateKeeper; closing: AbortSignal },
): Promise<boolean> {
  switch (action.kind) {
    case 'drop':
      response.socket?.destroy()
      return false
    case 'reset':
      response.socket?.resetAndDestroy()
      return false
    case 'answer':
      sendBody(response, replacement(action))
      return false
    case 'delay':
      return waitFor(action.ms, closing)
    case 'hold': {
      const how = await gate.pass()
      if (how === 'drop') response.socket?.destroy()
      return how === 'answer'
    }
  }
}

/** Returns false when the server closed meanwhile. */
export async function waitFor(ms: number, closing: AbortSignal): Promise<boolean> {
  return pause(ms, true, { signal: closing }).catch(() => false)
}

function replacement(action: Extract<FaultAction, { kind: 'answer' }>): Answer {
  const body = typeof action.body === 'string' ? action.body : JSON.stringify(action.body)
  return { status: action.status, body, ...(action.headers !== undefined && { headers: action.headers }) }
}

async function sendShaped(
  response: ServerResponse,
  { action, answer, closing }: { action: FaultAction; answer: Answer; closing: AbortSignal },
): Promise<void> {
  if (action.kind === 'truncate') {
    const cut = Buffer.from(answer.body).subarray(0, action.bytes)
    response.writeHead(answer.status, { ...headersOf(answer), 'content-length': cut.length })
    response.end(cut)
    return
  }
  if (action.kind !== 'trickle') return sendBody(response, answer)
  const bytes = Buffer.from(answer.body)
  const step = action.bytes ?? 1
  response.writeHead(answer.status, headersOf(answer))
  for (let at = 0; at < bytes.length && !response.destroyed; at += step) {
    response.write(bytes.subarray(at, at + step))
    if (!(await waitFor(action.everyMs, closing))) return
  }
  response.end()
}
