import type { Approval } from '../core/approval.ts'
import type { GatedCall, GateVerdict } from '../core/call-gate.ts'
import type { TurnId } from '../core/ids.ts'
import type { SessionIdentity } from '../core/session.ts'

interface AskingTurn {
  readonly id: TurnId
  readonly session: Pick<SessionIdentity, 'id'>
}

/** Returns the verdict on a call that a person was asked about: a yes holds for exactly that call, and for one turn. */
export function judgeAsked(turn: AskingTurn, call: GatedCall, approval: Approval): GateVerdict {
  const same = approval.tool === call.tool && JSON.stringify(approval.args) === JSON.stringify(call.args)
  if (!same || approval.sessionId !== turn.session.id)
    return denyCall('this is another call than the one that was asked about')
  switch (approval.state) {
    case 'asked':
      return { kind: 'ask', code: approval.code, asked: true }
    case 'denied':
      return denyCall(`${approval.decidedBy ?? 'my owner'} has refused this call`)
    case 'allowed':
      return { kind: 'allow' }
    case 'used':
      return approval.usedBy === turn.id ? { kind: 'allow' } : denyCall('this call was made already')
  }
}

/** Returns the refusal of a call, in words for the model. */
export function denyCall(reason: string): GateVerdict {
  return { kind: 'deny', reason: `Denied: ${reason}. Answer here without it.` }
}
