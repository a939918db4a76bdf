import { type Approval, type ApprovalDesk, OPEN_MS, type StandingRule } from '../core/approval.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { Store } from '../store/store.ts'
import type { CardKeeper } from './card-keeper.ts'
import { standingRule } from './standing-rules.ts'
import { overBy } from './still-open.ts'
import type { Speaking } from './tool-policy.ts'

export interface DeskDeps {
  readonly store: Store
  readonly clock: Clock
  readonly cards: Pick<CardKeeper, 'closeIfOver'>
  /** Returns everybody whose words the turn was shown, as they are known now. */
  speaking(turn: TurnRef): Promise<readonly Speaking[]>
  /** Called once an answer is on record; resolves when what follows from it has begun. */
  answered(code: string, state: 'allowed' | 'denied'): Promise<void>
}

interface Answer {
  readonly state: 'allowed' | 'denied'
  readonly by: string
  readonly rule?: StandingRule
}

/** Returns the desk at which owners answer questions, and list and take back the rules they gave with an answer. */
export function createDesk(deps: DeskDeps): ApprovalDesk {
  const { store, clock, cards, speaking } = deps
  const { read } = store

  async function named(code: string): Promise<Approval> {
    const approval = await read.approvals.get(code.toLowerCase())
    if (approval) return approval
    throw new ParleyError('not_found', `I have asked nothing of the code ${code}.`)
  }

  async function answer(approval: Approval, { state, by, rule }: Answer): Promise<Approval> {
    const { code, sessionId, turnId, tool } = approval
    // The command runs again after a crash, and a person may press twice.
    const again = approval.state === 'allowed' || approval.state === 'used'
    if (state === 'allowed' && again && approval.decidedBy === by) {
      if (rule === undefined || (await read.standingRules.all()).some((one) => one.code === code)) return approval
      throw over(tool)
    }
    if ((await overBy(store, approval, clock.now())) !== undefined) {
      void cards.closeIfOver(code)
      throw over(tool)
    }
    const decided = await store.write(async (tx) => {
      const at = clock.now()
      if (!(await tx.approvals.decide(code, { state, by, at }))) return false
      await tx.events.append(sessionId, at, [{ type: 'approval_decided', turnId, data: { code, state, by } }])
      if (rule) await tx.standingRules.add(rule)
      return true
    })
    if (!decided) throw over(tool)
    failpoint('CP18-approval-decided')
    void cards.closeIfOver(code)
    await deps.answered(code, state)
    return (await read.approvals.get(code)) ?? approval
  }

  return {
    decide: async (code, state, by) => answer(await named(code), { state, by }),
    async allowAlways(code, standing, by) {
      const approval = await named(code)
      const session = await read.sessions.get(approval.sessionId)
      if (session === undefined) throw over(approval.tool)
      const turn = { id: approval.turnId, sessionId: session.id, agentId: session.agentId }
      const given = { session, speaking: await speaking(turn), standing, by, at: clock.now() }
      return answer(approval, { state: 'allowed', by, rule: standingRule(approval, given) })
    },
    open: () => read.approvals.open(clock.now() - OPEN_MS),
    rules: () => read.standingRules.all(),
    async forget(code) {
      if (await store.write((tx) => tx.standingRules.remove(code.toLowerCase()))) return
      throw new ParleyError('not_found', `There is no standing rule of the code ${code}.`)
    },
  }
}

function over(tool: string): ParleyError {
  return new ParleyError(
    'conflict',
    `The question about ${tool} is over: it was answered, stopped, or is older than ten minutes.`,
  )
}
