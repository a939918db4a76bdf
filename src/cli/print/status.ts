import { mcpInWords } from '../../core/mcp.ts'
import { serverInWords } from '../../core/model-server.ts'
import type { RetentionLimit } from '../../core/operate-forgetting.ts'
import type { ChannelStatus, ListedDelivery } from '../../core/operate-parts.ts'
import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import type { LastMessage, StatusReport } from '../../core/operator.ts'
import { spendingInWords } from '../../core/spending.ts'
import { placeOf } from '../named-session.ts'
import { clip, clipTitle, columns } from './columns.ts'
import { oneLine } from './plain.ts'
import { channelName, claimLines } from './started.ts'
import type { Style } from './style.ts'
import { formatAge, formatTime } from './time.ts'

export interface StatusContext {
  readonly next?: ScheduleSummary | undefined
  /** Ms since the epoch. */
  readonly now: number
}

/** Returns `parley status` on one screen: channels first, then what waits, then what needs attention. */
export function printStatus(report: StatusReport, style: Style, { next, now }: StatusContext): string[] {
  const since = report.startedAt === undefined ? 'not running' : `up since ${formatTime(report.startedAt)}`
  return [
    style.bold(`Parley ${report.version}, ${since}`),
    '',
    ...section('Channels', channelLines(report, style), style),
    '',
    ...columns([
      ['owner', report.ownerKnown ? 'known' : 'nobody yet'],
      ...claimLines(report).map((line) => ['', line]),
      ['models', [...new Set(report.models)].map(oneLine).join(', ') || 'none'],
      ...serverRows(report),
      ...(report.toolServers ?? []).flatMap((server, at) => {
        const [first = '', ...rest] = mcpInWords(server).map(oneLine)
        return [[at === 0 ? 'tools' : '', first], ...rest.map((line) => ['', `  ${line}`])]
      }),
      ['sessions', String(report.sessions)],
      ['turns', `${report.runningTurns} running, ${count(report.waiting, 'message')} waiting`],
      ...lastRow('last in', report.lastIn),
      ...lastRow('last out', report.lastOut),
      ...nextRow(next),
      ...(report.spentToday === undefined ? [] : [['today', spendingInWords(report.spentToday)]]),
      ...(report.budgets ?? []).map(({ words }, at) => [at === 0 ? 'budgets' : '', oneLine(words)]),
      ...(report.retention ?? []).map((limit, at) => [at === 0 ? 'retention' : '', limitWords(limit)]),
      ...report.botsHeld.map((chat) => [
        'bots',
        `not answered for now in ${oneLine(chat)}: they used up routing.botBudget`,
      ]),
      ...backupRows(report, now),
      ['outbox', tally(report.outbox) || 'empty'],
      ...restoredLines(report),
    ]),
    ...deliveryLines('Sends nobody can be sure of: parley outbox retry|drop <id>', report.uncertain, style),
    ...deliveryLines('Messages that were not delivered: parley outbox retry <id>, or drop', report.undelivered, style),
  ]
}

function lastRow(name: string, last: LastMessage | undefined): string[][] {
  if (last === undefined) return []
  const { at, address, title } = last
  return [[name, oneLine(`${formatTime(at)}, ${placeInWords(address, title)}`)]]
}

/** The widest title, and text of a reminder, on a line of eighty columns. */
const WIDEST_TITLE = 24
const WIDEST_PROMPT = 16

function nextRow(next: ScheduleSummary | undefined): string[][] {
  if (next?.nextAt === undefined) return []
  const { id, nextAt, source, prompt, deliverTo, deliverTitle } = next
  const what = source === 'config' ? id : `"${clip(oneLine(prompt), WIDEST_PROMPT)}"`
  return [['next', oneLine(`${formatTime(nextAt)}, ${what}, to ${placeInWords(deliverTo, deliverTitle)}`)]]
}

/** Returns a place by its title, on its platform; by its address where no title is known. */
function placeInWords(address: string, title: string | undefined): string {
  const place = placeOf(address)
  return title === undefined || place === undefined ? address : `${clipTitle(title, WIDEST_TITLE)} (${place.where})`
}

/** Returns a row for each server of models, with the traits that were learnt and the failures below it. */
function serverRows({ modelServers = [] }: StatusReport): string[][] {
  return modelServers.flatMap((server, at) => [
    [at === 0 ? 'servers' : '', oneLine(serverInWords(server))],
    ...server.learnt.map(({ model, traits }) => ['', `  ${oneLine(`${model} ${traits.join('; ')}`)}`]),
    ...server.troubles.flatMap(({ models, code, at, cause, remedy }) => {
      const failed = code === 'model_unconfigured' ? 'cannot be called' : `failed at ${formatTime(at)}`
      const [first, ...rest] = [`${models.join(', ')} ${failed}`, cause, remedy].map(oneLine)
      return [['', `  ${first}`], ...rest.map((line) => ['', `    ${line}`])]
    }),
  ])
}

function backupRows({ backup }: StatusReport, now: number): string[][] {
  const { at, path = '', there, failedAt, reason = '' } = backup ?? {}
  const gone = there === false ? ', which is not there now' : ''
  const last =
    at === undefined ? 'none yet; parley backup makes one' : `${formatAge(at, now)} ago, whole, ${path}${gone}`
  const failed = failedAt === undefined ? [] : [['', `failed ${formatAge(failedAt, now)} ago: ${oneLine(reason)}`]]
  return [['backup', oneLine(last)], ...failed]
}

function limitWords({ rule, days, startsAt }: RetentionLimit): string {
  const since = startsAt === undefined ? 'once owners had a report of it for a day' : `from ${formatTime(startsAt)} on`
  return `${oneLine(rule)}: what is older than ${count(days, 'day')} is forgotten, ${since}`
}

function restoredLines({ restored }: StatusReport): string[][] {
  if (restored === undefined) return []
  return [
    ['put back', 'the database is an older copy; what was said since then is not answered'],
    [
      '',
      `${count(restored.held, 'queued message')} held: "parley outbox resume" sends them, "parley outbox discard" drops them`,
    ],
  ]
}

function channelLines({ channels, startedAt }: StatusReport, style: Style): string[] {
  if (channels.length === 0) return [startedAt === undefined ? 'none up while no daemon runs' : 'none configured']
  const rows = columns(
    channels.map((one) => [
      channelName(one),
      one.status,
      one.username ? `@${oneLine(one.username)}` : '',
      oneLine(one.receives ?? ''),
      one.lastProofAt === undefined ? '' : `last heard ${formatTime(one.lastProofAt)}`,
    ]),
  )
  return channels.flatMap((one, at) => [
    `${mark(one, style)} ${rows[at] ?? ''}`,
    ...remarks(one).map((line) => `    ${line}`),
  ])
}

function mark({ status }: ChannelStatus, style: Style): string {
  if (status === 'up') return style.good('✓')
  return status === 'down' ? style.bad('✗') : style.dim('·')
}

function remarks({ detail, hints, unknown }: ChannelStatus): string[] {
  const dropped = tally(unknown, kindInWords)
  return [
    ...(detail ? [oneLine(detail)] : []),
    ...hints.map((hint) => `hint: ${oneLine(hint)}`),
    ...(dropped ? [`nothing for the agent: ${dropped}`] : []),
  ]
}

function deliveryLines(title: string, deliveries: readonly ListedDelivery[], style: Style): string[] {
  const rows = deliveries.map(({ id, address, title = address, state, reason = '', traceId }) => [
    ...[id, state, title, traceId, reason],
  ])
  if (rows.length === 0) return []
  return ['', ...section(title, columns(rows.map((row) => row.map(oneLine))), style)]
}

function section(title: string, lines: readonly string[], style: Style): string[] {
  return [style.bold(title), ...lines.map((line) => `  ${line}`)]
}

function tally(counts: Readonly<Record<string, number>>, inWords = (name: string): string => name): string {
  return Object.entries(counts)
    .filter(([, many]) => many > 0)
    .map(([name, many]) => `${many} ${oneLine(inWords(name))}`)
    .join(', ')
}

/** Returns a kind of event in words: `message:forum_topic_created` is a forum topic created. */
function kindInWords(kind: string): string {
  return kind.replace(/^.*:(?=.)/, '').replaceAll('_', ' ')
}

export function count(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? '' : 's'}`
}
