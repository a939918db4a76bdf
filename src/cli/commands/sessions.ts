import { EXIT } from '../../core/errors.ts'
import type { SessionDetail, StartRequest } from '../../core/operate-sessions.ts'
import type { OperatorService } from '../../core/operator.ts'
import { SETTING_NAMES, type SettingName } from '../../core/session-settings.ts'
import { askOperator } from '../ask-operator.ts'
import { byTitle } from '../named-session.ts'
import { counted, oneLine } from '../print/plain.ts'
import { printHistory, printSession, printSessions } from '../print/sessions.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'
import { variablesOf } from './send.ts'

export interface ListOptions extends ReadOptions {
  readonly all?: boolean
  readonly limit: number
  readonly offset: number
}

export interface HistoryOptions extends ReadOptions {
  readonly limit: number
  readonly before?: number
}

export interface PatchOptions extends ReadOptions {
  /** The values by setting; null inherits again, undefined changes nothing. */
  readonly changes: Partial<Readonly<Record<SettingName, unknown>>>
}

export interface StartOptions extends ReadOptions, Omit<StartRequest, 'name' | 'context'> {
  /** `name=value` pairs for the prompt. */
  readonly context?: readonly string[]
}

export async function startSession(ports: ReadPorts, name: string | undefined, options: StartOptions): Promise<number> {
  const { agent, model, tools, workspace } = options
  const request = { name, agent, model, tools, workspace, context: variablesOf(options.context) }
  const session = await ask(ports, options, (sessions) => sessions.start(request))
  return done(ports, options, session, `${session.id} has begun; write to it with: parley send ${session.id} "…"`)
}

export async function listSessions(ports: ReadPorts, options: ListOptions): Promise<number> {
  const query = { limit: options.limit, offset: options.offset, inactive: options.all ?? false }
  const list = await ask(ports, options, (sessions) => sessions.list(query))
  const page = { query, now: ports.now(), width: widthOf(ports.stdout) }
  show(ports, options, { value: list, lines: (style) => printSessions(list, page, style) })
  return EXIT.ok
}

export async function showSession(ports: ReadPorts, name: string, options: ReadOptions): Promise<number> {
  const session = await ask(ports, options, (sessions) => byTitle(sessions, name, (one) => sessions.show(one)))
  show(ports, options, { value: session, lines: (style) => printSession(session, style) })
  return EXIT.ok
}

export async function showHistory(ports: ReadPorts, name: string, options: HistoryOptions): Promise<number> {
  const page = { limit: options.limit, ...(options.before === undefined ? {} : { before: options.before }) }
  const history = await ask(ports, options, (sessions) => byTitle(sessions, name, (one) => sessions.history(one, page)))
  show(ports, options, { value: history, lines: (style) => printHistory(history, style) })
  return EXIT.ok
}

export async function renameSession(ports: ReadPorts, name: string, options: ReadOptions & { title: string }) {
  const session = await ask(ports, options, (sessions) =>
    byTitle(sessions, name, (one) => sessions.rename(one, options.title)),
  )
  return done(ports, options, session, `${session.id} is now called "${session.description}".`)
}

export async function patchSession(ports: ReadPorts, name: string, options: PatchOptions): Promise<number> {
  const session = await ask(ports, options, (sessions) =>
    byTitle(sessions, name, (one) => sessions.patch(one, options.changes)),
  )
  const set = SETTING_NAMES.flatMap((field) => (session[field] === undefined ? [] : [`${field} ${session[field]}`]))
  return done(ports, options, session, `${session.id}: ${set.join(', ') || 'everything as configured'}.`)
}

export async function truncateSession(ports: ReadPorts, name: string, options: ReadOptions & { turns: number }) {
  const boundary = { kind: 'truncated', turns: options.turns }
  const session = await ask(ports, options, (sessions) =>
    byTitle(sessions, name, (one) => sessions.setHistory(one, boundary)),
  )
  return done(
    ports,
    options,
    session,
    `${session.id}: the model is shown the newest ${counted(options.turns, 'turn')}.`,
  )
}

export async function compactSession(ports: ReadPorts, name: string, options: ReadOptions): Promise<number> {
  const session = await ask(ports, options, (sessions) =>
    byTitle(sessions, name, (one) => sessions.setHistory(one, { kind: 'compacted' })),
  )
  return done(ports, options, session, `${session.id}: what was hidden from the model stays hidden.`)
}

export async function deleteSession(ports: ReadPorts, name: string, options: ReadOptions): Promise<number> {
  const gone = await ask(ports, options, (sessions) =>
    byTitle(sessions, name, (one) => sessions.delete(one).then(() => one)),
  )
  show(ports, options, { value: { deleted: true }, lines: () => [`${oneLine(gone)} and all it held is deleted.`] })
  return EXIT.ok
}

function done(ports: ReadPorts, options: ReadOptions, session: SessionDetail, line: string): number {
  show(ports, options, { value: session, lines: () => [line] })
  return EXIT.ok
}

async function ask<Answer>(
  ports: ReadPorts,
  options: ReadOptions,
  question: (sessions: OperatorService['sessions']) => Promise<Answer>,
): Promise<Answer> {
  return askOperator(ports, await ports.load(options.config, 'ask'), (operator) => question(operator.sessions))
}
