import type { WhyReport, WhyStep } from '../../core/operator.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** The decision trace of each message: what looked at it, what decided, which setting would flip it, what came of it. */
export function printWhy(reports: readonly WhyReport[], style: Style): string[] {
  return reports.flatMap((report, at) => [...(at === 0 ? [] : ['']), ...printOne(report, style)])
}

function printOne(report: WhyReport, style: Style): string[] {
  const { sender, messageId, session, turn } = report
  const name = sender.name ? `${oneLine(sender.name)} (${oneLine(sender.id)})` : oneLine(sender.id)
  const what = messageId ? `${report.event} ${messageId}` : report.event
  return [
    style.bold(`${oneLine(what)} in ${oneLine(report.address)}`),
    ...columns([
      ['  from', name],
      ['  received', formatTime(report.receivedAt)],
      ['  inbox', oneLine(report.inboxId)],
      ['  trace', oneLine(report.traceId)],
    ]),
    '',
    ...stepLines(report.steps, style),
    '',
    ...columns([
      ['  decision', oneLine(`${report.decision}: ${report.reason}`)],
      ...(session ? [['  session', oneLine(session)]] : []),
      ...(turn ? [['  turn', oneLine(turn)]] : []),
      ['  outcome', oneLine(report.outcome)],
    ]),
    ...(report.denied ?? []).map(({ tool, reason }) => `  ${style.bad('✗')} ${oneLine(tool)}  ${oneLine(reason)}`),
    ...deliveryLines(report, style),
  ]
}

function stepLines(steps: readonly WhyStep[], style: Style): string[] {
  const rows = columns(steps.map(({ stage, because }) => [oneLine(stage), oneLine(because)]))
  return steps.flatMap((step, at) => [
    `  ${step.verdict === 'pass' ? style.good('✓') : style.bad('✗')} ${rows[at] ?? ''}`,
    ...(step.config ? [style.dim(`      setting: ${oneLine(step.config)}`)] : []),
  ])
}

function deliveryLines({ deliveries }: WhyReport, style: Style): string[] {
  if (deliveries.length === 0) return ['  nothing was sent']
  const rows = columns(
    deliveries.map(({ state, messageId, reason }, at) => [
      `part ${at + 1}`,
      oneLine(state),
      messageId ? `as ${oneLine(messageId)}` : '',
      oneLine(reason ?? ''),
    ]),
  )
  return deliveries.map(({ state }, at) => `  ${state === 'sent' ? style.good('✓') : style.dim('·')} ${rows[at] ?? ''}`)
}
