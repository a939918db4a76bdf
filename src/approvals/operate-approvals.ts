import { type Approval, type ApprovalDesk, OPEN_MS } from '../core/approval.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { ApprovalOperator, ApprovalReport } from '../core/operate-approvals.ts'
import { OPERATOR } from '../core/platform-id.ts'
import type { Store, StoreReader } from '../store/store.ts'

export interface OperateApprovalsDeps {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  /** Absent without a daemon: then nothing can be decided. */
  readonly desk?: Pick<ApprovalDesk, 'decide' | 'open'>
}

/** Answers like an owner: nobody else may use the local socket. */
const DECIDER = { by: OPERATOR, owner: true }

export function operateApprovals({ store: { read }, clock, desk }: OperateApprovalsDeps): ApprovalOperator {
  return {
    async list() {
      const open = await (desk ? desk.open(DECIDER) : read.approvals.open(clock.now() - OPEN_MS))
      return Promise.all(open.map((approval) => reportOf(read, approval)))
    },
    async decide(code, verdict, by = OPERATOR) {
      if (!desk) throw new ParleyError('unavailable', 'Start the daemon first: it makes the call.')
      return reportOf(read, await desk.decide(code, verdict === 'approve' ? 'allowed' : 'denied', { ...DECIDER, by }))
    },
  }
}

async function reportOf({ sessions }: StoreReader, approval: Approval): Promise<ApprovalReport> {
  const { code, tool, args, sessionId, askedAt, state, late, decidedBy } = approval
  const session = (await sessions.get(sessionId))?.displayKey ?? sessionId
  const decided = decidedBy === undefined ? {} : { decidedBy }
  return { code, tool, args: JSON.stringify(args), session, askedAt, state, late, ...decided }
}
