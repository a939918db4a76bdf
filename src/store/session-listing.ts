import { namespacesOf } from '../core/caller.ts'
import type { SessionId } from '../core/ids.ts'
import { isJoined } from './joined-sessions.ts'
import { integer, optional, text } from './rows.ts'
import type { Sql, SqlRow } from './sql.ts'

/** A list keeps its sessions by the hour of their last activity: within one hour a further message moves none. */
export const HOUR_MS = 3_600_000

/** In an hour with many open sessions of a list, those of each of its parts are counted too. */
export const SPAN_MS = 10_000
const SPANS = HOUR_MS / SPAN_MS

/** In an hour with more, they are. Fewer are looked at one by one: one or two milliseconds. */
const MOST_UNCOUNTED = 1_000

/** The standing of a session in its lists; that of a task is only counted. */
export const [OPEN, ENDED, TASK] = [0, 1, 2] as const

/** The hour under which the sessions of all hours are counted. */
export const WHENEVER = -1

/** The list of all sessions. */
export const ALL = ''

export function namespaceList(namespace: string): string {
  return `n:${namespace}`
}

export function participantList(participant: string): string {
  return `p:${participant}`
}

export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS)
}

export function spanOf(at: number): number {
  return Math.floor(at / SPAN_MS)
}

/** Returns the hour of a shelf, of which only the standing matters where the session is a task's. */
export function hourOfShelf(shelf: number): number {
  return Math.floor(shelf / 4 / SPANS)
}

/** Returns true if a session that stands on this shelf belongs to another one after a message at this time. */
export function leavesShelf(shelf: number | undefined, at: number): boolean {
  return shelf === undefined || (shelf % 4 !== TASK && Math.floor(shelf / 4) !== spanOf(at))
}

const STATE = `SELECT sessions.no, sessions.id, kind, display_key, agent_id, parent_id, last_activity_at, inactive_at, shelf FROM sessions
  JOIN session_activity AS activity ON activity.no = sessions.no WHERE sessions.id = $1`
const MEMBERS = 'SELECT participant FROM participants WHERE session_id = $1'
const ENTER = 'INSERT INTO session_listings (list, standing, hour, no) VALUES ($1, $2, $3, $4)'
const LEAVE = 'DELETE FROM session_listings WHERE list = $1 AND standing = $2 AND hour = $3 AND no = $4'
const MORE = `INSERT INTO session_counts (list, standing, hour, sessions) VALUES ($1, $2, $3, 1)
  ON CONFLICT (list, standing, hour) DO UPDATE SET sessions = session_counts.sessions + 1 RETURNING sessions, by_span`
const FEWER = `UPDATE session_counts SET sessions = sessions - 1 WHERE list = $1 AND standing = $2 AND hour = $3
  RETURNING sessions, by_span`
const NONE = 'DELETE FROM session_counts WHERE list = $1 AND standing = $2 AND hour = $3'
const BY_SPAN = 'SELECT by_span FROM session_counts WHERE list = $1 AND standing = $2 AND hour = $3'
const MORE_IN_SPAN = `INSERT INTO session_spans (list, span, sessions) VALUES ($1, $2, 1)
  ON CONFLICT (list, span) DO UPDATE SET sessions = session_spans.sessions + 1`
const FEWER_IN_SPAN =
  'UPDATE session_spans SET sessions = sessions - 1 WHERE list = $1 AND span = $2 RETURNING sessions'
const NONE_IN_SPAN = 'DELETE FROM session_spans WHERE list = $1 AND span = $2'
const COUNT_BY_SPAN = 'UPDATE session_counts SET by_span = 1 WHERE list = $1 AND standing = $2 AND hour = $3'
const SPANS_OF_HOUR = `INSERT INTO session_spans (list, span, sessions)
  SELECT list, last_activity_at / ${SPAN_MS}, COUNT(*) FROM session_listings AS listing
  CROSS JOIN session_activity AS activity
  WHERE list = $1 AND standing = $2 AND hour = $3 AND activity.no = listing.no GROUP BY 1, 2`

/**
 * Keeps the lists of a session and their counts in step with its row, in the transaction that changes it. A session is
 * listed under all, under each namespace that its id lies in, and under each of its participants.
 */
export class SessionListing {
  readonly #sql: Sql

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Called after the row of a session was made or has changed. */
  async relist(id: SessionId): Promise<void> {
    const row = await this.#sql.get(STATE, [id])
    if (row === undefined) return
    const [before, after] = [optional(row, 'shelf', integer), shelfOf(row)]
    if (before === after) return
    const no = integer(row, 'no')
    const stays = before !== undefined && before % 4 === after % 4
    if (stays && hourOfShelf(before) === hourOfShelf(after)) await this.#moveInHour(row, before, after)
    else
      for (const list of await this.#listsOf(row)) {
        if (before !== undefined) await this.#leave(list, before, { no, total: !stays })
        await this.#enter(list, after, { no, total: !stays })
      }
    await this.#sql.run('UPDATE session_activity SET shelf = $2 WHERE no = $1', [no, after])
  }

  /** Called before the row of a session is taken away. */
  async unlist(id: SessionId): Promise<void> {
    const row = await this.#sql.get(STATE, [id])
    const shelf = row && optional(row, 'shelf', integer)
    if (row === undefined || shelf === undefined) return
    for (const list of await this.#listsOf(row)) await this.#leave(list, shelf, { no: integer(row, 'no') })
    await this.#sql.run('UPDATE session_activity SET shelf = NULL WHERE no = $1', [integer(row, 'no')])
  }

  /** Called after somebody has become a participant. */
  async joined(id: SessionId, participant: string): Promise<void> {
    const row = await this.#sql.get(STATE, [id])
    const shelf = row && optional(row, 'shelf', integer)
    if (row === undefined || shelf === undefined || shelf % 4 === TASK) return
    await this.#enter(participantList(participant), shelf, { no: integer(row, 'no') })
  }

  /** Called where these participants of a session are taken away, and before all of them are. */
  async left(id: SessionId, participants?: readonly string[]): Promise<void> {
    const row = await this.#sql.get(STATE, [id])
    const shelf = row && optional(row, 'shelf', integer)
    if (row === undefined || shelf === undefined || shelf % 4 === TASK) return
    const lists = participants?.map(participantList) ?? (await this.#memberLists(id))
    for (const list of lists) await this.#leave(list, shelf, { no: integer(row, 'no') })
  }

  async #listsOf(row: SqlRow): Promise<readonly string[]> {
    if (isTask(row)) return [ALL]
    const id = text(row, 'id')
    const namespaces = isJoined(row) ? [] : namespacesOf(id)
    return [ALL, ...namespaces.map(namespaceList), ...(await this.#memberLists(id))]
  }

  async #memberLists(id: string): Promise<readonly string[]> {
    return (await this.#sql.all(MEMBERS, [id])).map((row) => participantList(text(row, 'participant')))
  }

  async #enter(list: string, shelf: number, { no, total = true }: Entry): Promise<void> {
    const { standing, hour, span } = placeOn(shelf)
    if (total) await this.#sql.get(MORE, [list, standing, WHENEVER])
    if (standing === TASK) return
    await this.#sql.run(ENTER, [list, standing, hour, no])
    const kept = await this.#sql.get(MORE, [list, standing, hour])
    if (standing !== OPEN || kept === undefined) return
    if (integer(kept, 'by_span') === 1) await this.#sql.run(MORE_IN_SPAN, [list, span])
    else if (integer(kept, 'sessions') > MOST_UNCOUNTED) {
      await this.#sql.run(COUNT_BY_SPAN, [list, standing, hour])
      await this.#sql.run(SPANS_OF_HOUR, [list, standing, hour])
    }
  }

  async #leave(list: string, shelf: number, { no, total = true }: Entry): Promise<void> {
    const { standing, hour, span } = placeOn(shelf)
    if (total) await this.#countLess([list, standing, WHENEVER])
    if (standing === TASK) return
    await this.#sql.run(LEAVE, [list, standing, hour, no])
    if (await this.#countLess([list, standing, hour])) await this.#countLessInSpan(list, span)
  }

  /** Every list is a part of that of all sessions: where its hour is not counted by spans, no hour of them is. */
  async #moveInHour(row: SqlRow, before: number, after: number): Promise<void> {
    const { standing, hour } = placeOn(after)
    if (standing !== OPEN || !(await this.#isBySpan([ALL, standing, hour]))) return
    for (const list of await this.#listsOf(row)) {
      if (list !== ALL && !(await this.#isBySpan([list, standing, hour]))) continue
      await this.#countLessInSpan(list, placeOn(before).span)
      await this.#sql.run(MORE_IN_SPAN, [list, placeOn(after).span])
    }
  }

  async #isBySpan(place: Place): Promise<boolean> {
    const kept = await this.#sql.get(BY_SPAN, place)
    return kept !== undefined && integer(kept, 'by_span') === 1
  }

  /** Returns true if the sessions of that hour are counted by spans too. */
  async #countLess(place: Place): Promise<boolean> {
    const left = await this.#sql.get(FEWER, place)
    if (left === undefined) return false
    if (integer(left, 'sessions') <= 0) await this.#sql.run(NONE, place)
    return integer(left, 'by_span') === 1
  }

  async #countLessInSpan(list: string, span: number): Promise<void> {
    const left = await this.#sql.get(FEWER_IN_SPAN, [list, span])
    if (left !== undefined && integer(left, 'sessions') <= 0) await this.#sql.run(NONE_IN_SPAN, [list, span])
  }
}

type Place = readonly [list: string, standing: number, hour: number]

interface Entry {
  readonly no: number
  /** False: it only moves from one hour to another. */
  readonly total?: boolean
}

function placeOn(shelf: number): { readonly standing: number; readonly hour: number; readonly span: number } {
  return { standing: shelf % 4, hour: hourOfShelf(shelf), span: Math.floor(shelf / 4) }
}

function shelfOf(row: SqlRow): number {
  if (isTask(row)) return TASK
  return spanOf(integer(row, 'last_activity_at')) * 4 + ((row.inactive_at ?? null) === null ? OPEN : ENDED)
}

function isTask(row: SqlRow): boolean {
  return (row.parent_id ?? null) !== null
}
