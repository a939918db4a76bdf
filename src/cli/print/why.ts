import { machineZone } from '../../core/machine-zone.ts'
import type { WhyReport, WhyStep } from '../../core/operator.ts'
import { withLocalTimes } from '../../core/wall-time.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns for each message the sentence with the reason, and which message it is. */
export function printWhy(reports: readonly WhyReport[], style: Style): string[] {
  if (reports.length === 0) return []
  const lines = reports.flatMap((report, at) => [
    ...(at === 0 ? [] : ['']),
    style.bold(headline(report)),
    `  ${nameOf(report)}, from ${senderOf(report)}, ${formatTime(report.receivedAt)}`,
    ...questionLines(report),
    ...deniedLines(report, style),
  ])
  return [...lines, style.dim('  Add --trace to see each step.')]
}

/** Returns for each message the sentence and the stages behind it, the setting of each, and what was sent. */
export function printTrace(reports: readonly WhyReport[], style: Style): string[] {
  return reports.flatMap((report, at) => [...(at === 0 ? [] : ['']), ...traceLines(report, style)])
}

function headline({ summary, decision, reason }: WhyReport): string {
  return words(summary ?? `${decision}: ${reason}`)
}

/** Returns what a decision says, its instants in the zone of this machine. */
function words(text: string): string {
  return withLocalTimes(oneLine(text), machineZone())
}

function nameOf({ event, messageId, address, title }: WhyReport): string {
  return oneLine(`${messageId ? `${event} ${messageId}` : event} in ${title ?? address}`)
}

function senderOf({ sender: { id, name } }: WhyReport): string {
  return name ? `${oneLine(name)} (${oneLine(id)})` : oneLine(id)
}

function questionLines({ questions = [] }: WhyReport): string[] {
  return questions.map((question) => `  asked an owner: ${oneLine(question)}`)
}

function deniedLines({ denied = [] }: WhyReport, style: Style): string[] {
  return denied.map(({ tool, reason }) => `  ${style.bad('✗')} ${oneLine(tool)}  ${oneLine(reason)}`)
}

function traceLines(report: WhyReport, style: Style): string[] {
  const { session, turn } = report
  return [
    style.bold(headline(report)),
    '',
    nameOf(report),
    ...columns([
      ['  from', senderOf(report)],
      ...(report.title === undefined ? [] : [['  place', oneLine(report.address)]]),
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
      ...(report.precheck ? [['  check', oneLine(report.precheck)]] : []),
      ...(report.budget ? [['  budget', oneLine(report.budget)]] : []),
      ...(report.silence ? [['  silence', oneLine(report.silence)]] : []),
      ...(report.context ? [['  context', oneLine(report.context)]] : []),
      ['  outcome', oneLine(report.outcome)],
    ]),
    ...questionLines(report),
    ...deniedLines(report, style),
    ...deliveryLines(report, style),
  ]
}

function stepLines(steps: readonly WhyStep[], style: Style): string[] {
  const rows = columns(steps.map(({ stage, because }) => [oneLine(stage), words(because)]))
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
