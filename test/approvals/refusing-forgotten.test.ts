import { expect, it } from 'vitest'
import { refusingForgotten } from '../../src/approvals/refusing-forgotten.ts'
import { type Approval, approvedCallId } from '../../src/core/approval.ts'
import type { ApprovalOutcome, CallGate, GatedCall, GateVerdict } from '../../src/core/call-gate.ts'
import type { TurnId } from '../../src/core/ids.ts'

const CODE = 'abcde'
const ASKED = { kind: 'ask', code: CODE, asked: false } as const
const CALL: GatedCall = { callId: 'c', tool: 'pay', args: {}, reach: 'beyond', keepsWords: true }

/** The gate of turn `tu`, behind which `verdict` holds and somebody has said yes; the question is one of turn `asker`. */
function gate(
  forgotten: readonly string[],
  { verdict = { kind: 'allow' } as GateVerdict, asker = 'tu' } = {},
): CallGate {
  const outcome = async (): Promise<ApprovalOutcome> => ({ kind: 'allowed' })
  const read = {
    forgetting: { isForgetting: async (turn: TurnId) => forgotten.includes(turn) },
    approvals: { get: async () => ({ turnId: asker }) as unknown as Approval },
  }
  return refusingForgotten(read as never, 'tu' as TurnId, { judge: async () => verdict, outcome })
}

const refused = { kind: 'deny', reason: expect.stringContaining('being forgotten') }

it('S41: calls that keep words are refused to a turn that is being forgotten, and others are judged as ever', async () => {
  expect(await gate([]).judge(CALL)).toEqual({ kind: 'allow' })
  expect(await gate(['another']).judge(CALL)).toEqual({ kind: 'allow' })
  expect(await gate(['tu']).judge(CALL)).toEqual(refused)
  expect(await gate(['tu']).judge({ ...CALL, keepsWords: false })).toEqual({ kind: 'allow' })
})

it('S41: nobody is asked about a call of such a turn, whose words would stand on the card', async () => {
  const call = { ...CALL, keepsWords: false }
  expect(await gate([], { verdict: ASKED }).judge(call)).toEqual(ASKED)
  expect(await gate(['tu'], { verdict: ASKED }).judge(call)).toEqual(refused)
})

it('S41: a call that was allowed meanwhile, or after the turn that asked, is not made either', async () => {
  const { signal } = new AbortController()
  expect(await gate([]).outcome(CODE, signal)).toEqual({ kind: 'allowed' })
  expect(await gate(['tu']).outcome(CODE, signal)).toMatchObject({ kind: 'refused' })
  const late = { ...CALL, callId: approvedCallId(CODE) }
  expect(await gate([], { asker: 'before' }).judge(late)).toEqual({ kind: 'allow' })
  expect(await gate(['before'], { asker: 'before' }).judge(late)).toEqual(refused)
})
