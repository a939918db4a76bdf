import type { ApprovalReport } from '../../core/operate-approvals.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns two lines for each question: where it is asked, and the call in full, which is what is agreed to. */
export function printApprovals(approvals: readonly ApprovalReport[], style: Style): string[] {
  if (approvals.length === 0) return ['Nothing is asked that waits for an answer.']
  return approvals.flatMap(({ code, tool, args, session, askedAt }) => [
    `${style.bold(oneLine(code))}  ${oneLine(tool)} in ${oneLine(session)}, asked ${formatTime(askedAt)}`,
    `  ${oneLine(args)}`,
  ])
}
