import { expect, it } from 'vitest'
import { type ApprovalDeps, createApprovals } from '../../src/approvals/approval-service.ts'
import type { JudgedTurn } from '../../src/approvals/judge-call.ts'
import { type Approval, approvedCallId, type ToolRule } from '../../src/core/approval.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Dispatch } from '../../src/core/dispatch.ts'
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

it.each([
  ['is handed in once', {}, 1],
  ['is not, while its words are being forgotten', { forgotten: true }, 0],
] as const)(
  'S41: a call that is allowed after its turn went on %s',
  async (_, { forgotten = false }: { forgotten?: boolean }, times) => {
    const accepted: Dispatch[] = []
    const late = { ...ALLOWED, late: true, turnId: 'tu', args: {}, reply: { address: {} } }
    const read = {
      approvals: { owed: async () => [late as unknown as Approval] },
      sessions: { get: async () => ({ id: 's', displayKey: 'telegram:direct:111' }) },
      forgetting: { isForgetting: async () => forgotten },
      inbox: { ofTurn: async () => [] },
    } as unknown as Store['read']
    const deps = {
      store: { read },
      ids: { trace: () => 'tr' },
      clock: systemClock,
      accept: async (one: Dispatch) => void accepted.push(one),
    }
    await createApprovals(deps as unknown as ApprovalDeps).handIn()
    expect(accepted).toHaveLength(times)
  },
)
