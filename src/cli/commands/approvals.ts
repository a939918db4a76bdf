import { EXIT, errorCode, ParleyError } from '../../core/errors.ts'
import type { ApprovalReport } from '../../core/operate-approvals.ts'
import { askOperator } from '../ask-operator.ts'
import { oneLine } from '../print/plain.ts'
import type { Style } from '../print/style.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export async function listApprovals(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const all = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.approvals.list())
  show(ports, options, { value: all, lines: (style) => printApprovals(all, style) })
  return EXIT.ok
}

interface AnswerOptions extends ReadOptions {
  readonly code: string
  readonly verdict: 'approve' | 'deny'
}

export async function decideApproval(ports: ReadPorts, options: AnswerOptions): Promise<number> {
  const { code, verdict } = options
  const loaded = await ports.load(options.config, 'ask')
  const decided = await askOperator(ports, loaded, ({ approvals }) =>
    approvals.decide(code, verdict).catch((err: unknown) => {
      if (errorCode(err) !== 'not_found') throw err
      throw new ParleyError('not_found', `Nothing is asked under the code ${code}; see "parley approvals list".`)
    }),
  )
  const outcome = verdict === 'approve' ? 'allowed, this once' : 'refused'
  show(ports, options, {
    value: decided,
    lines: () => [`${oneLine(decided.tool)} in ${oneLine(decided.session)} is ${outcome}.`],
  })
  return EXIT.ok
}

/** Returns two lines for each question: where it is asked, and the call in full, which is what is agreed to. */
function printApprovals(approvals: readonly ApprovalReport[], style: Style): string[] {
  if (approvals.length === 0) return ['Nothing is asked that waits for an answer.']
  return approvals.flatMap(({ code, tool, args, session, askedAt }) => [
    `${style.bold(oneLine(code))}  ${oneLine(tool)} in ${oneLine(session)}, asked ${formatTime(askedAt)}`,
    `  ${oneLine(args)}`,
  ])
}
