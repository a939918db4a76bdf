import { expect, it } from 'vitest'
import { type ApprovalDeps, createApprovals, type JudgedTurn } from '../../src/approvals/approval-service.ts'
import { type Approval, approvedCallId, type ToolRule } from '../../src/core/approval.ts'
import type { Store } from '../../src/store/store.ts'

const CODE = 'abcde'
const ADA = { author: 'ada', person: 'ada', role: 'owner' }
const ALLOWED = { code: CODE, sessionId: 's', tool: 'pay', args: { to: 'cy' }, state: 'allowed', decidedBy: 'ada' }

/** Judges a call that was allowed late, in the turn that makes it. */
function judge(
  session: { inactiveAt?: number } = {},
  more: { rules?: readonly ToolRule[]; owner?: boolean; forgotten?: true } = {},
) {
  const read = {
    approvals: { get: async () => ALLOWED as unknown as Approval },
    sessions: { get: async () => session },
    forgetting: { isForgetting: async () => more.forgotten ?? false },
    standingRules: { all: async () => [] },
    chatMoves: { all: async () => [] },
  } as unknown as Store['read']
  const deps = {
    store: { read },
    rules: more.rules ?? [],
    speaking: async () => [ADA],
    isOwnerNow: async () => more.owner ?? true,
  } as unknown as ApprovalDeps
  const place = { displayKey: 'telegram:direct:111', source: { kind: 'channel' }, metadata: {} }
  const turn = { id: 'tu', session: { id: 's', ...place } } as unknown as JudgedTurn
  const args = { to: 'cy' }
  const call = { callId: approvedCallId(CODE), tool: 'pay', args, reach: 'beyond', keepsWords: true } as const
  return createApprovals(deps).gate(turn).judge(call)
}

it('S8: a call that was allowed late is made while its conversation goes on, and not once that has ended', async () => {
  expect(await judge()).toEqual({ kind: 'allow' })
  expect(await judge({ inactiveAt: 1 })).toEqual({
    kind: 'deny',
    reason: expect.stringContaining('its conversation has ended'),
  })
})

it('T32: nor is it made against a rule that denies, nor once whoever allowed it may not any more', async () => {
  const deny: ToolRule = { tools: ['pay'], who: ['everybody'], action: 'deny' }
  expect(await judge({}, { rules: [deny] })).toMatchObject({
    kind: 'deny',
    reason: expect.stringContaining('the policy'),
  })
  expect(await judge({}, { owner: false })).toMatchObject({ kind: 'deny', reason: expect.stringContaining('ada, who') })
})

it('S41: nor is it made while the words of the turn that asked are being forgotten', async () => {
  expect(await judge({}, { forgotten: true })).toMatchObject({
    kind: 'deny',
    reason: expect.stringContaining('being forgotten'),
  })
})
