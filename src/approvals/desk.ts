import type { Approval, ApprovalDesk, Decider, StandingRule, ToolRule } from '../core/approval.ts'
import type { CardKeeper } from '../core/card-keeper.ts'
import type { Clock } from '../core/clock.ts'
import { isDoneBefore, markDone } from '../core/done-before.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Session } from '../core/session.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { Store } from '../store/store.ts'
import { namesOfPlace } from './place-of.ts'
import { standingRule } from './standing-rules.ts'
import { overBy, stillOpen } from './still-open.ts'
import { approversOf, type Speaking } from './tool-policy.ts'

export interface DeskDeps {
  readonly store: Store
  readonly clock: Clock
  readonly cards: Pick<CardKeeper, 'closeIfOver'>
  readonly rules: readonly ToolRule[]
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
  const { store, clock, cards } = deps
  const { read } = store

  async function named(code: string): Promise<Approval> {
    const approval = await read.approvals.get(code.toLowerCase())
    if (approval) return approval
    throw new ParleyError('not_found', `I have asked nothing of the code ${code}; /approvals lists what is open.`)
  }

  async function answer(approval: Approval, { state, by, rule }: Answer): Promise<Approval> {
    const { code, sessionId, turnId, tool } = approval
    // The command runs again after a crash, and a person may press twice.
    if (isAgain(approval, state, by)) {
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
    async decide(code, state, decider) {
      const approval = await named(code)
      if (!(await mayAnswer(deps, approval, decider))) throw forbidden()
      return answer(approval, { state, by: decider.by })
    },
    async allowAlways(code, standing, { by, owner }) {
      const approval = await named(code)
      if (!owner) throw forbidden()
      const asked = await contextOf(deps, approval)
      if (asked === undefined) throw over(approval.tool)
      const rule = standingRule(approval, { ...asked, standing, by, at: clock.now() })
      return answer(approval, { state: 'allowed', by, rule })
    },
    async open(decider) {
      const all = await stillOpen(store, clock.now())
      const may = await Promise.all(all.map((approval) => mayAnswer(deps, approval, decider)))
      return all.filter((_, index) => may[index])
    },
    rules: () => read.standingRules.all(),
    async forget(code, request) {
      const isTakenBack = await store.write(async (tx) => {
        if (!(await tx.standingRules.remove(code.toLowerCase()))) return isDoneBefore(tx, request)
        await markDone(tx, request, clock.now())
        return true
      })
      if (isTakenBack) return
      throw new ParleyError('not_found', `There is no standing rule of the code ${code}.`)
    },
  }
}

/** Returns true if this person has given the same answer before. */
function isAgain(approval: Approval, state: 'allowed' | 'denied', by: string): boolean {
  const given = approval.state === 'used' ? 'allowed' : approval.state
  return given === state && approval.decidedBy === by
}

type ContextDeps = Pick<DeskDeps, 'store' | 'speaking'>

/** Returns where a question was asked and whose words its turn was shown; undefined once the session is gone. */
async function contextOf(
  { store, speaking }: ContextDeps,
  { sessionId, turnId }: Approval,
): Promise<{ readonly session: Session; readonly speaking: readonly Speaking[] } | undefined> {
  const session = await store.read.sessions.get(sessionId)
  if (session === undefined) return undefined
  return { session, speaking: await speaking({ id: turnId, sessionId, agentId: session.agentId }) }
}

/** An owner may answer every question; anybody else those whose rules name them at this moment. */
async function mayAnswer(
  deps: ContextDeps & Pick<DeskDeps, 'rules'>,
  approval: Approval,
  { by, owner }: Decider,
): Promise<boolean> {
  if (owner) return true
  const asked = await contextOf(deps, approval)
  if (asked === undefined) return false
  const { session, speaking } = asked
  const place = await namesOfPlace(deps.store.read, session)
  const named = approversOf(deps.rules, { tool: approval.tool, speaking, place })
  return named.some((person) => person === by)
}

function forbidden(): ParleyError {
  return new ParleyError('forbidden', 'Only my owner may do that.')
}

function over(tool: string): ParleyError {
  return new ParleyError(
    'conflict',
    `The question about ${tool} is over: it was answered, stopped, or is older than ten minutes.`,
  )
}
