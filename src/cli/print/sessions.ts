import type {
  ListedSession,
  SessionDetail,
  SessionHistory,
  SessionList,
  SessionListQuery,
  SessionSummary,
} from '../../core/operate-sessions.ts'
import { labelled } from '../../core/session-settings.ts'
import { placeOf, titleWithId } from '../named-session.ts'
import { clip, clipTitle, columns } from './columns.ts'
import { oneLine, plain } from './plain.ts'
import { count } from './status.ts'
import type { Style } from './style.ts'
import { formatAge, formatTime } from './time.ts'

export interface Page {
  readonly query: SessionListQuery
  /** Ms since the epoch, from which ages are counted. */
  readonly now: number
  /** The columns of the terminal, to which lines are cut. */
  readonly width: number
}

/** The widest title, so that there is room for what the session is about. */
const WIDEST_TITLE = 28

/**
 * Returns one line for each session, newest activity first, and the option for the rest of the list. A session whose
 * place has no title is shown by its key.
 */
export function printSessions({ sessions, total }: SessionList, { query, now, width }: Page, style: Style): string[] {
  if (total === 0)
    return [query.inactive ? 'No session yet.' : 'No active session. Add --all to see the inactive ones.']
  if (sessions.length === 0) return [`No session at offset ${query.offset}; there are ${total}.`]
  const [header = '', ...rows] = columns(
    [['PLACE', 'WHERE', 'ACTIVE', 'STATUS', 'ABOUT'], ...rowsOf(sessions, now)],
    width,
  )
  return [style.bold(header), ...rows, ...moreLine({ sessions, total }, query, style)]
}

/**
 * Returns the row of each session, and below it those of its tasks. Of places with one title each has its id there:
 * `Ada (111)`.
 */
function rowsOf(sessions: readonly ListedSession[], now: number): string[][] {
  const nameOf = ({ title, key }: SessionSummary): string => {
    if (title === undefined || title === key) return clip(oneLine(placeOf(key)?.id ?? key), WIDEST_TITLE)
    const isShared = sessions.some((one) => one.title === title && one.key !== key)
    if (!isShared) return clipTitle(oneLine(title), WIDEST_TITLE)
    const place = oneLine(key)
    const room = WIDEST_TITLE - titleWithId('', place).length
    return titleWithId(clipTitle(oneLine(title), room), place)
  }
  const rowOf = (session: SessionSummary, indent = ''): string[] => {
    const { status, updatedAt, key, description, preview } = session
    const about = oneLine(description) || oneLine(preview)
    const place = oneLine(placeOf(key)?.where ?? session.kind)
    return [`${indent}${place}`, nameOf(session), formatAge(updatedAt, now), status, about]
  }
  return sessions.flatMap((one) => [rowOf(one), ...(one.children ?? []).map((child) => rowOf(child, '  └ '))])
}

function moreLine({ sessions, total }: SessionList, query: SessionListQuery, style: Style): string[] {
  const next = query.offset + sessions.length
  if (query.offset === 0 && next >= total) return []
  const rest = next < total ? `; the next with --offset ${next}` : ''
  return [style.dim(`${query.offset + 1} to ${next} of ${total}${rest}`)]
}

/** Returns a session and its newest events. */
export function printSession(session: SessionDetail, style: Style, zone?: string): string[] {
  const { messages, turns } = session
  return [
    style.bold(oneLine(session.title ?? session.id)),
    ...columns([
      ['  id', oneLine(session.id)],
      ['  key', oneLine(session.key)],
      ['  scope', oneLine(session.scopeKey)],
      ['  kind', oneLine(session.kind)],
      ['  status', session.status],
      ...(session.parent === undefined ? [] : [['  task of', oneLine(session.parent)]]),
      ['  agent', oneLine(session.agent)],
      ['  created', formatTime(session.createdAt, zone)],
      ['  last active', formatTime(session.updatedAt, zone)],
      ['  holds', `${count(messages, 'message')}, ${count(turns, 'turn')}`],
      ...(session.participants.length > 0 ? [['  with', oneLine(session.participants.join(', '))]] : []),
      ...session.aliases.map((alias) => ['  alias', oneLine(alias)]),
      ...settingLines(session),
      ...(session.description ? [['  about', oneLine(session.description)]] : []),
      ...Object.entries(session.metadata).map(([name, value]) => [`  ${oneLine(name)}`, oneLine(value)]),
    ]),
    '',
    ...(session.events.length === 0 ? ['  no event yet'] : eventLines(session.events, style, zone)),
  ]
}

/** Returns the overrides, and the place of the last delivery. */
function settingLines(session: SessionDetail): string[][] {
  const { lastTo } = session
  const set = [...labelled(session), ...(lastTo === undefined ? [] : [['last sent to', lastTo] as const])]
  return set.map(([label, value]) => [`  ${label}`, oneLine(value)])
}

/** Returns a page of a session's log and the option for the page before it. */
export function printHistory(
  { session, events, total, before }: SessionHistory,
  style: Style,
  zone?: string,
): string[] {
  if (events.length === 0) return [total === 0 ? 'No event yet.' : `No event there; ${session} has ${total}.`]
  const more = before === undefined ? [] : [style.dim(`of ${total}; the page before with --before ${before}`)]
  return [...eventLines(events, style, zone), ...more]
}

/** Returns each event with its number; further lines of its text are below the first. */
function eventLines(events: SessionDetail['events'], style: Style, zone?: string): string[] {
  const heads = columns(events.map(({ seq, at, type }) => [`  ${seq}`, formatTime(at, zone), oneLine(type)]))
  const widest = Math.max(...heads.map((head) => head.length))
  return events.flatMap(({ text }, at) => {
    const [first = '', ...rest] = plain(text).split('\n')
    const head = (heads[at] ?? '').padEnd(widest)
    const indent = ' '.repeat(widest)
    return [`${style.dim(head)}  ${first}`.trimEnd(), ...rest.map((line) => `${indent}  ${line}`.trimEnd())]
  })
}
