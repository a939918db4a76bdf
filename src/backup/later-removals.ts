import type { Dispatch } from '../core/dispatch.ts'
import { isNothing } from '../core/emptied.ts'
import type { UserMessageData } from '../core/event.ts'
import { type EventParts, type ForgetPlan, NO_PLAN, type SessionPlan } from '../core/forgetting.ts'
import type { InboxId, MediaId, ScheduleId, SessionId, SourceId, TurnId } from '../core/ids.ts'
import { withoutQuoted } from '../sessions/people/kept-text.ts'
import { FORGOTTEN_MARK } from '../store/content-codec.ts'
import type { SnapshotRows } from '../store/engines/snapshot.ts'
import { BLANK_PART } from '../store/outbox.ts'
import { sessionShortenedBy } from '../store/removals.ts'

/** The words that an older copy of a store still has, and that a later state of it has removed. */
export interface LaterRemovals {
  /** Removed because somebody asked for it, and for its age. */
  readonly forgotten: ForgetPlan
  readonly aged: ForgetPlan
  /** Conversations that were deleted. */
  readonly deleted: readonly SessionId[]
  /** Requests that the later state had begun and not finished. */
  readonly open: readonly ForgetPlan[]
}

const EMPTY = `substr(events.data, 1, ${FORGOTTEN_MARK.length}) = '${FORGOTTEN_MARK}'`
const BLANK = `'${BLANK_PART}'`
const ALIVE = 'sessions.deleted_at IS NULL'
const EVENTS = 'FROM events JOIN sessions ON sessions.no = events.session_no'

/**
 * Compares two states of one store. A request to forget keeps no list of what it took; the emptied rows themselves are
 * that list. A row of the copy counts as the same where its place, its time and its kind are the same: after an earlier
 * restore another one may stand at that place. A row that the newer state lacks was deleted there only where that state
 * says that words were taken out of its session since (`store/removals.ts`): a state that was put back from an older
 * copy, by whatever tool, lacks what was said between the two.
 */
export function laterRemovals(older: SnapshotRows, newer: SnapshotRows): LaterRemovals {
  const since = shortenedSessions(older, newer)
  const deleted = missingIn(since, older, newer, `SELECT id, id, id || ' ' || created_at FROM sessions WHERE ${ALIVE}`)
  const gone = deleted.map((id) => rowsOf(older, id as SessionId))
  const sessions = [...sessionPlans(older, newer, since).values()]
  const rows = goneRows(older, newer)
  const of = 'JOIN sessions ON sessions.no = session_no'
  return {
    ...{ deleted: deleted as SessionId[], open: openPlans(newer) },
    aged: { ...NO_PLAN, aged: true, inbox: rows.aged },
    forgotten: {
      ...{ ...NO_PLAN, sessions, quoting: quotingRows(older, newer) },
      inbox: [...rows.forgotten, ...gone.flatMap(({ inbox }) => inbox)],
      sources: [...blankedSources(older, newer), ...gone.flatMap(({ sources }) => sources)],
      entries: missingIn(
        since,
        older,
        newer,
        `SELECT id, entries.no, request FROM memory_entries AS entries ${of}`,
      ).map(Number),
      schedules: endedSchedules(older, newer),
      media: missingIn(
        since,
        older,
        newer,
        `SELECT id, media_id, media_id || ' ' || id FROM media_uses ${of} WHERE ${ALIVE}`,
      ) as MediaId[],
      applicants: unnamedApplicants(older, newer),
    },
  }
}

/** Returns the sessions, also deleted ones, out of which the newer state has taken words since. */
function shortenedSessions(older: SnapshotRows, newer: SnapshotRows): ReadonlySet<string> {
  const counts = (rows: SnapshotRows) => rows.all<[string, number]>(`SELECT name, value FROM counters`)
  const before = new Map(counts(older))
  const names = [...counts(newer)].flatMap(([name, value]) => (value > (before.get(name) ?? 0) ? [name] : []))
  return new Set(names.flatMap((name) => sessionShortenedBy(name) ?? []))
}

/**
 * Returns the rows of these sessions that only the older state has; a query gives their session, their value, and the
 * text by which they are known.
 */
function missingIn(
  sessions: ReadonlySet<string>,
  older: SnapshotRows,
  newer: SnapshotRows,
  query: string,
): readonly (string | number)[] {
  type Row = readonly [session: string, value: string | number, name: string]
  const there = new Set([...newer.all<Row>(query)].map(([, , name]) => name))
  const gone = [...older.all<Row>(query)].filter(([session, , name]) => sessions.has(session) && !there.has(name))
  return [...new Set(gone.map(([, value]) => value))]
}

/** Reminders that the newer state has run and ended since: each would be said a second time. */
function endedSchedules(older: SnapshotRows, newer: SnapshotRows): readonly ScheduleId[] {
  const ended = `SELECT 1 FROM schedule_slots WHERE schedule_id = ?
    AND NOT EXISTS (SELECT 1 FROM schedules WHERE id = schedule_id)`
  const reminders = [...older.all<[ScheduleId]>("SELECT id FROM schedules WHERE source = 'command'")]
  return reminders.flatMap(([id]) => (newer.get(ended, [id]) === undefined ? [] : [id]))
}

/** Returns the messages of a session, and what was said in it. */
function rowsOf(rows: SnapshotRows, id: SessionId): Pick<ForgetPlan, 'inbox' | 'sources'> {
  const [inbox, sources] = rows.get<[string, string]>(
    `SELECT (SELECT json_group_array(id) FROM inbox WHERE session_id = ?),
      (SELECT json_group_array(DISTINCT source) FROM outbox WHERE session_id = ?)`,
    [id, id],
  ) ?? ['[]', '[]']
  return { inbox: JSON.parse(inbox), sources: JSON.parse(sources) }
}

/** Returns the requests that are not finished; the turns they waited for are over in the copy, and part of the plan. */
function openPlans(newer: SnapshotRows): readonly ForgetPlan[] {
  const plans = [...newer.all<[string]>("SELECT plan FROM forgettings WHERE state = 'running'")]
  return plans.map(([text]) => {
    const plan = JSON.parse(text) as ForgetPlan
    const sessions = plan.sessions.map(({ running, ...session }) =>
      running === undefined
        ? session
        : { ...session, empty: [...session.empty, ...running.empty], turns: [...session.turns, running.turn] },
    )
    const rows = plan.sessions.flatMap(({ running }) => running?.rows ?? [])
    return { ...plan, sessions, inbox: [...plan.inbox, ...rows], unsay: [] }
  })
}

interface Draft {
  readonly empty: number[]
  readonly cut: number[]
  readonly parts: EventParts[]
  readonly turns: Set<TurnId>
}

function sessionPlans(
  older: SnapshotRows,
  newer: SnapshotRows,
  shortened: ReadonlySet<string>,
): ReadonlyMap<SessionId, SessionPlan> {
  const drafts = new Map<SessionId, Draft>()
  const draftOf = (id: SessionId): Draft => {
    const known = drafts.get(id) ?? { empty: [], cut: [], parts: [], turns: new Set() }
    drafts.set(id, known)
    return known
  }
  for (const [id, seq] of emptiedEvents(older, newer)) draftOf(id).empty.push(seq)
  for (const change of changedEvents(older, newer)) {
    if (change.parts === undefined) draftOf(change.session).cut.push(change.seq)
    else draftOf(change.session).parts.push(change.parts)
  }
  for (const [id, turn] of blankedTurns(older, newer)) if (shortened.has(id)) draftOf(id).turns.add(turn)
  const unnamed = unnamedSessions(older, newer, shortened)
  for (const id of unnamed.keys()) draftOf(id)
  return new Map(
    [...drafts].map(([id, { empty, cut, parts, turns }]) => [
      id,
      {
        ...{ id, cut, parts, turns: [...turns], unnamed: unnamed.get(id) ?? 'preview' },
        empty: empty.toSorted((one, other) => other - one),
      },
    ]),
  )
}

type EventRow = readonly [session: SessionId, seq: number, at: number, type: string, data: string]

function* emptiedEvents(older: SnapshotRows, newer: SnapshotRows): Generator<readonly [SessionId, number]> {
  const query = `SELECT sessions.id, seq, at, type, '' ${EVENTS} WHERE ${EMPTY} AND ${ALIVE}`
  const same = `SELECT 1 ${EVENTS} WHERE sessions.id = ? AND seq = ? AND at = ? AND type = ? AND ${ALIVE} AND NOT ${EMPTY}`
  for (const [id, seq, at, type] of newer.all<EventRow>(query))
    if (older.get(same, [id, seq, at, type]) !== undefined) yield [id, seq]
}

interface ChangedEvent {
  readonly session: SessionId
  readonly seq: number
  /** Absent: a message that has lost what it quotes. */
  readonly parts?: EventParts
}

/** Events that lost some of their words: a quotation, or what one of several people has sent. */
function* changedEvents(older: SnapshotRows, newer: SnapshotRows): Generator<ChangedEvent> {
  const query = `SELECT sessions.id, seq, at, type, data ${EVENTS} WHERE ${ALIVE} AND NOT ${EMPTY} AND (
    type IN ('thread_read', 'files_read') OR (type IN ('user_message', 'message_edited') AND (
      instr(data, '"quoted":') > 0 OR instr(data, '"forwarded":') > 0 OR instr(data, '"shared":') > 0)))`
  const same = `SELECT data ${EVENTS} WHERE sessions.id = ? AND seq = ? AND at = ? AND type = ? AND ${ALIVE} AND NOT ${EMPTY}`
  for (const [session, seq, at, type, data] of older.all<EventRow>(query)) {
    const [now] = newer.get<[string]>(same, [session, seq, at, type]) ?? [data]
    if (now === data) continue
    const isList = type === 'thread_read' || type === 'files_read'
    yield { session, seq, ...(isList ? { parts: partsOf(seq, JSON.parse(data), JSON.parse(now)) } : {}) }
  }
}

interface ListData {
  readonly messages?: readonly UserMessageData[]
  readonly files?: readonly { readonly ref: string }[]
}

function partsOf(seq: number, before: ListData, after: ListData): EventParts {
  const [places, quotes]: [number[], number[]] = [[], []]
  for (const [at, message] of (before.messages ?? []).entries()) {
    const now = after.messages?.[at]
    if (now === undefined || JSON.stringify(now) === JSON.stringify(message)) continue
    if (isNothing(now)) places.push(at)
    else quotes.push(at)
  }
  for (const [at, { ref }] of (before.files ?? []).entries())
    if (ref !== '' && after.files?.[at]?.ref === '') places.push(at)
  return { seq, places, quotes }
}

/** Turns whose questions, calls or check have lost their words. */
function* blankedTurns(older: SnapshotRows, newer: SnapshotRows): Generator<readonly [SessionId, TurnId]> {
  for (const [blank, full] of [
    [
      `SELECT session_id, turn_id, code FROM approvals WHERE args = '{}'`,
      `SELECT 1 FROM approvals WHERE code = ? AND args <> '{}'`,
    ],
    [
      `SELECT session_id, turn_id, code FROM questions WHERE text = ''`,
      `SELECT 1 FROM questions WHERE code = ? AND text <> ''`,
    ],
    [
      'SELECT session_id, id, id FROM turns WHERE precheck IS NULL',
      'SELECT 1 FROM turns WHERE id = ? AND precheck IS NOT NULL',
    ],
  ] as const)
    for (const [session, turn, name] of newer.all<[SessionId, TurnId, string]>(blank))
      if (older.get(full, [name]) !== undefined) yield [session, turn]
}

type Unnamed = NonNullable<SessionPlan['unnamed']>

/** Sessions of which lists show less than before. */
function unnamedSessions(
  older: SnapshotRows,
  newer: SnapshotRows,
  shortened: ReadonlySet<string>,
): ReadonlyMap<SessionId, Unnamed> {
  const query = `SELECT id, preview, description, metadata FROM sessions JOIN session_activity USING (no) WHERE ${ALIVE}`
  type Row = readonly [id: SessionId, preview: string, description: string, metadata: string]
  const before = new Map([...older.all<Row>(query)].map((row) => [row[0], row]))
  const found = new Map<SessionId, Unnamed>()
  for (const [id, preview, description, metadata] of newer.all<Row>(query)) {
    const was = before.get(id)
    if (was === undefined || !shortened.has(id)) continue
    if (hasNames(was[3]) && !hasNames(metadata)) found.set(id, 'all')
    else if (was[2] !== '' && description === '') found.set(id, 'description')
    else if (was[1] !== '' && preview === '') found.set(id, 'preview')
  }
  return found
}

function hasNames(metadata: string): boolean {
  return /"(?:chat_title|topic_title|person_name)":/.test(metadata)
}

interface GoneRows {
  readonly forgotten: readonly InboxId[]
  readonly aged: readonly InboxId[]
}

function goneRows(older: SnapshotRows, newer: SnapshotRows): GoneRows {
  const whole = `SELECT 1 FROM inbox WHERE id = ? AND (outcome IS NULL OR outcome NOT IN ('forgotten', 'aged'))`
  const query = "SELECT id, outcome FROM inbox WHERE outcome IN ('forgotten', 'aged')"
  const rows = [...newer.all<[InboxId, 'forgotten' | 'aged']>(query)]
  const of = (why: string) =>
    rows.flatMap(([id, outcome]) => (outcome === why && older.get(whole, [id]) !== undefined ? [id] : []))
  return { forgotten: of('forgotten'), aged: of('aged') }
}

/** Messages that have lost what they quote; a move of their chat changes them as well. */
function quotingRows(older: SnapshotRows, newer: SnapshotRows): readonly InboxId[] {
  const query = `SELECT id, dispatch FROM inbox WHERE outcome IS NOT 'forgotten' AND outcome IS NOT 'aged'
    AND (instr(dispatch, '"quoted":') > 0 OR instr(dispatch, '"forwarded":') > 0 OR instr(dispatch, '"shared":') > 0)`
  const quotes = (text: string): boolean => {
    const dispatch = JSON.parse(text) as Dispatch
    return JSON.stringify(withoutQuoted(dispatch)) !== JSON.stringify(dispatch)
  }
  return [...older.all<[InboxId, string]>(query)].flatMap(([id, dispatch]) => {
    const [now] = newer.get<[string]>('SELECT dispatch FROM inbox WHERE id = ?', [id]) ?? [dispatch]
    return now !== dispatch && quotes(dispatch) && !quotes(now) ? [id] : []
  })
}

function blankedSources(older: SnapshotRows, newer: SnapshotRows): readonly SourceId[] {
  const query = `SELECT DISTINCT source FROM outbox WHERE part = ${BLANK}`
  const full = `SELECT 1 FROM outbox WHERE source = ? AND (part <> ${BLANK} OR earlier IS NOT NULL)`
  const rows = [...newer.all<[SourceId]>(query)]
  return rows.flatMap(([source]) => (older.get(full, [source]) === undefined ? [] : [source]))
}

function unnamedApplicants(older: SnapshotRows, newer: SnapshotRows): readonly string[] {
  const rows = [...newer.all<[string]>('SELECT key FROM admissions WHERE name = key')]
  const named = 'SELECT 1 FROM admissions WHERE key = ? AND name <> key'
  return rows.flatMap(([key]) => (older.get(named, [key]) === undefined ? [] : [key]))
}
