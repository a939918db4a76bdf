import { integer } from './rows.ts'
import { HOUR_MS, hourOf } from './session-listing.ts'
import { placeholders, type Sql, type SqlValue } from './sql.ts'

/** The place of a session in the order of all lists. */
export interface Key {
  /** Its last activity. */
  readonly at: number
  readonly no: number
}

/** The sessions of one or several lists, each once. */
export interface WantedLists {
  readonly lists: readonly string[]
  readonly standings: readonly number[]
  /** Leaves out what was last active before. */
  readonly since?: number
}

interface Reading {
  readonly from: Key | undefined
  readonly count: number
  readonly without: ReadonlySet<number>
}

/** Sessions that are fetched and sorted at once: some milliseconds. */
const MOST_SORTED = 2_000
/** Rows that a walk looks at in one statement: some milliseconds. */
export const MOST_WALKED = 4_000
/** Hours of a list that are looked at in one statement. */
const HOURS = 250

/**
 * Returns the keys of the wanted sessions that stand after `from`, newest activity first, at most `count`. Hours with
 * few sessions are fetched and sorted; in one with many, all sessions of that hour are walked in their order, of which
 * the list then has a good part. No statement takes long, whatever is stored.
 */
export async function keysAfter(
  sql: Sql,
  wanted: WantedLists,
  { from, count, without }: Reading,
): Promise<readonly Key[]> {
  const found: Key[] = []
  let upTo = from
  let hour = from === undefined ? Number.MAX_SAFE_INTEGER : hourOf(from.at)
  while (found.length < count) {
    const run = runOf(await hoursBefore(sql, wanted, hour), count - found.length)
    if (run === undefined) break
    const read = run.sessions > MOST_SORTED ? walk : fetchSorted
    const keys = await read(sql, wanted, { run, upTo, count: count - found.length + without.size })
    found.push(...keys.filter(({ no }) => !without.has(no)))
    hour = run.first - 1
    upTo = undefined
  }
  return found.slice(0, count)
}

interface Hour {
  readonly hour: number
  readonly sessions: number
}

/** The hours from `first` to `last` that are read together. */
interface Run {
  readonly first: number
  readonly last: number
  readonly sessions: number
}

/** Returns hours with sessions, the newest first, down to the last one that was read of every list. */
async function hoursBefore(
  sql: Sql,
  { lists, standings, since = 0 }: WantedLists,
  hour: number,
): Promise<readonly Hour[]> {
  const sums = new Map<number, number>()
  let edge = 0
  for (const list of lists)
    for (const standing of standings) {
      const rows = await sql.all(
        `SELECT hour, sessions FROM session_counts
          WHERE list = $1 AND standing = $2 AND hour <= $3 AND hour >= $4 ORDER BY hour DESC LIMIT ${HOURS}`,
        [list, standing, hour, hourOf(since)],
      )
      for (const row of rows) {
        const at = integer(row, 'hour')
        sums.set(at, (sums.get(at) ?? 0) + integer(row, 'sessions'))
      }
      const last = rows.at(-1)
      if (rows.length === HOURS && last !== undefined) edge = Math.max(edge, integer(last, 'hour'))
    }
  const hours = [...sums].map(([at, sessions]) => ({ hour: at, sessions }))
  return hours.filter(({ hour: at }) => at >= edge).sort((a, b) => b.hour - a.hour)
}

/** Returns the newest hours that hold enough together, unless that would be too many to sort. */
function runOf([newest, ...older]: readonly Hour[], enough: number): Run | undefined {
  if (newest === undefined) return undefined
  let run: Run = { first: newest.hour, last: newest.hour, sessions: newest.sessions }
  for (const { hour, sessions } of older) {
    if (run.sessions >= enough || run.sessions + sessions > MOST_SORTED) break
    run = { ...run, first: hour, sessions: run.sessions + sessions }
  }
  return run
}

interface Range {
  readonly run: Run
  readonly upTo: Key | undefined
  readonly count: number
}

async function fetchSorted(sql: Sql, wanted: WantedLists, { run, upTo, count }: Range): Promise<readonly Key[]> {
  const { text, params, next } = membersOf(wanted)
  const end = upTo ?? { at: Number.MAX_SAFE_INTEGER, no: 0 }
  const { since = 0 } = wanted
  const rows = await sql.all(
    `SELECT DISTINCT activity.no, last_activity_at FROM session_listings AS listing CROSS JOIN session_activity AS activity
      WHERE ${text} AND hour >= $${next} AND hour <= $${next + 1} AND activity.no = listing.no
      AND (last_activity_at, activity.no) < ($${next + 2}, $${next + 3}) AND last_activity_at >= $${next + 4}
      ORDER BY last_activity_at DESC, activity.no DESC LIMIT ($${next + 5} + 0)`,
    [...params, run.first, run.last, end.at, end.no, since, count],
  )
  return rows.map((row) => ({ no: integer(row, 'no'), at: integer(row, 'last_activity_at') }))
}

/** Walks a part at a time, twice as long each time, so that other work comes between. */
async function walk(sql: Sql, wanted: WantedLists, { run, upTo, count }: Range): Promise<readonly Key[]> {
  const { text, params, next } = membersOf(wanted)
  const statement = `SELECT no, last_activity_at, EXISTS (
      SELECT 1 FROM session_listings WHERE ${text} AND hour = $${next} AND session_listings.no = activity.no
    ) AS listed FROM session_activity AS activity
    WHERE last_activity_at >= $${next + 1} AND (last_activity_at, no) < ($${next + 2}, $${next + 3})
    ORDER BY last_activity_at DESC, no DESC LIMIT ($${next + 4} + 0)`
  const found: Key[] = []
  const endOfHour = { at: (run.last + 1) * HOUR_MS, no: 0 }
  const begin = Math.max(run.last * HOUR_MS, wanted.since ?? 0)
  let end = upTo !== undefined && upTo.at < endOfHour.at ? upTo : endOfHour
  for (let size = Math.min(2 * count, MOST_WALKED); found.length < count; size = Math.min(2 * size, MOST_WALKED)) {
    const rows = await sql.all(statement, [...params, run.last, begin, end.at, end.no, size])
    for (const row of rows)
      if (Number(row.listed) === 1) found.push({ no: integer(row, 'no'), at: integer(row, 'last_activity_at') })
    const last = rows.at(-1)
    if (last === undefined || rows.length < size) break
    end = { no: integer(last, 'no'), at: integer(last, 'last_activity_at') }
  }
  return found.slice(0, count)
}

/** Returns the condition for rows of the lists, which are filled up so that few texts exist. */
export function membersOf({ lists, standings }: WantedLists): {
  readonly text: string
  readonly params: readonly SqlValue[]
  readonly next: number
} {
  const size = [1, 4, 16, 64].find((most) => most >= lists.length) ?? lists.length
  const filled = Array.from({ length: size }, (_, at) => lists[at] ?? lists.at(-1) ?? '')
  const text = `list IN (${placeholders(size)}) AND standing IN (${standings.join(', ')})`
  return { text, params: filled, next: size + 1 }
}
