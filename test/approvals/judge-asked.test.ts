import { expect, it } from 'vitest'
import { judgeAsked } from '../../src/approvals/judge-call.ts'
import type { Approval } from '../../src/core/approval.ts'
import type { GatedCall } from '../../src/core/call-gate.ts'
import type { SessionId, TurnId } from '../../src/core/ids.ts'

const turn = { id: 'tu' as TurnId, session: { id: 's' as SessionId } }
const CALL: GatedCall = { callId: 'c', tool: 'pay', args: { to: 'bob' }, reach: 'beyond' }

function judged(approval: Partial<Approval>, call: Partial<GatedCall> = {}) {
  const asked = { code: 'abcde', sessionId: 's', tool: 'pay', args: { to: 'bob' }, state: 'allowed', ...approval }
  return judgeAsked(turn, { ...CALL, ...call }, asked as Approval)
}

it('T32: an answer holds for the very call it was about, in its own session', () => {
  const another = { kind: 'deny', reason: expect.stringContaining('another call than the one that was asked about') }
  expect(judged({})).toEqual({ kind: 'allow' })
  expect(judged({}, { args: { to: 'mallory' } })).toEqual(another)
  expect(judged({}, { tool: 'send_message' })).toEqual(another)
  expect(judged({ sessionId: 'other' as SessionId })).toEqual(another)
})

it('T32: an answer is good for one turn', () => {
  expect(judged({ state: 'used', usedBy: turn.id })).toEqual({ kind: 'allow' })
  expect(judged({ state: 'used', usedBy: 'another' as TurnId })).toMatchObject({ kind: 'deny' })
  expect(judged({ state: 'denied', decidedBy: 'ada' })).toMatchObject({
    kind: 'deny',
    reason: expect.stringMatching(/^Denied: ada/),
  })
  expect(judged({ state: 'asked' })).toEqual({ kind: 'ask', code: 'abcde', asked: true })
})
