import type { ApprovalReport } from '../../core/operate-approvals.ts'
import { flag, list, maybe, object, oneOf, text, time } from './shape.ts'

export const approval = object<ApprovalReport>(
  {
    code: text,
    tool: text,
    args: text,
    session: text,
    askedAt: time,
    state: oneOf({ asked: true, allowed: true, denied: true, used: true }),
    late: flag,
    decidedBy: maybe(text),
  },
  'Approval',
)
export const approvals = list(approval)
