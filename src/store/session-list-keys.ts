import { integer } from './rows.ts'
import { HOUR_MS, hourOf, hourOfShelf, SPAN_MS, spanOf, WHENEVER } from './session-listing.ts'
import { placeholders, type Sql, type SqlRow, type SqlValue } from './sql.ts'

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
const MOST_WALKED = 4_000
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

/** Returns the number of the wanted sessions: the kept counts, less what stands in several of the lists. */
export async function countListed(sql: Sql, wanted: WantedLists, without: ReadonlySet<number>): Promise<number> {
  const counts = await Promise.all(
    wanted.lists.map(async (list) => ({ list, sessions: await countIn(sql, wanted, list) })),
  )
  const [most, ...further] = counts.filter(({ sessions }) => sessions > 0).sort((a, b) => b.sessions - a.sessions)
  if (most === undefined) return 0
  let total = most.sessions
  const before = [most.list]
  for (const { list, sessions } of further) {
    total += sessions - (await countTwice(sql, wanted, list, before))
    before.push(list)
  }
  for (const no of without) if (await isListed(sql, wanted, no)) total--
  return total
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

const IN_HOUR = 'SELECT sessions, by_span FROM session_counts WHERE list = $1 AND standing = $2 AND hour = $3'
const IN_HOURS_AFTER =
  'SELECT SUM(sessions) AS sessions FROM session_counts WHERE list = $1 AND standing = $2 AND hour > $3'
const IN_SPANS = 'SELECT SUM(sessions) AS sessions FROM session_spans WHERE list = $1 AND span > $2 AND span < $3'
const ONE_BY_ONE = `SELECT COUNT(*) AS sessions FROM session_listings AS listing CROSS JOIN session_activity AS activity
  WHERE list = $1 AND standing = $2 AND hour = $3 AND activity.no = listing.no AND last_activity_at >= $4`

async function countIn(sql: Sql, { standings, since }: WantedLists, list: string): Promise<number> {
  let sum = 0
  for (const standing of standings) {
    if (since === undefined) sum += sessionsOf(await sql.get(IN_HOUR, [list, standing, WHENEVER]))
    else {
      sum += sessionsOf(await sql.get(IN_HOURS_AFTER, [list, standing, hourOf(since)]))
      sum += await countInCutHour(sql, { list, standing, since })
    }
  }
  return sum
}

interface Cut {
  readonly list: string
  readonly standing: number
  readonly since: number
}

/** Returns how many sessions of the hour that `since` lies in were active from then on. */
async function countInCutHour(sql: Sql, { list, standing, since }: Cut): Promise<number> {
  const hour = hourOf(since)
  const kept = await sql.get(IN_HOUR, [list, standing, hour])
  if (sessionsOf(kept) === 0) return 0
  if (Number(kept?.by_span) === 0) return sessionsOf(await sql.get(ONE_BY_ONE, [list, standing, hour, since]))
  const span = spanOf(since)
  const later = sessionsOf(await sql.get(IN_SPANS, [list, span, spanOf((hour + 1) * HOUR_MS)]))
  const inSpan = await walk(
    sql,
    { lists: [list], standings: [standing], since },
    {
      run: { first: hour, last: hour, sessions: 0 },
      upTo: { at: (span + 1) * SPAN_MS, no: 0 },
      count: Number.MAX_SAFE_INTEGER,
    },
  )
  return later + inSpan.length
}

function sessionsOf(row: SqlRow | undefined): number {
  return Number(row?.sessions ?? 0)
}

/** Returns how many sessions of a list stand in one of the others as well, a part of it at a time. */
async function countTwice(sql: Sql, wanted: WantedLists, list: string, others: readonly string[]): Promise<number> {
  let twice = 0
  const { since = 0 } = wanted
  for (const standing of wanted.standings) {
    let [hour, no] = [hourOf(since), 0]
    for (;;) {
      const rows = await sql.all(
        `SELECT hour, no, EXISTS (SELECT 1 FROM session_listings AS other
            WHERE other.list IN (${placeholders(others.length, 7)}) AND other.standing = listing.standing
            AND other.hour = listing.hour AND other.no = listing.no) AND (hour > $5
            OR (SELECT last_activity_at FROM session_activity AS activity WHERE activity.no = listing.no) >= $6) AS twice
          FROM session_listings AS listing WHERE list = $1 AND standing = $2 AND (hour, no) > ($3, $4)
          ORDER BY hour, no LIMIT ${MOST_WALKED}`,
        [list, standing, hour, no, hourOf(since), since, ...others],
      )
      for (const row of rows) twice += Number(row.twice)
      const last = rows.at(-1)
      if (last === undefined || rows.length < MOST_WALKED) break
      ;[hour, no] = [integer(last, 'hour'), integer(last, 'no')]
    }
  }
  return twice
}

async function isListed(sql: Sql, wanted: WantedLists, no: number): Promise<boolean> {
  const row = await sql.get('SELECT shelf, last_activity_at FROM session_activity WHERE no = $1', [no])
  const hour = hourOfShelf(Number(row?.shelf ?? -1))
  if (row === undefined || Number(row.last_activity_at) < (wanted.since ?? 0)) return false
  const { text, params, next } = membersOf(wanted)
  const query = `SELECT 1 AS listed FROM session_listings WHERE ${text} AND hour = $${next} AND no = $${next + 1}`
  return (await sql.get(query, [...params, hour, no])) !== undefined
}

/** Returns the condition for rows of the lists, which are filled up so that few texts exist. */
function membersOf({ lists, standings }: WantedLists): {
  readonly text: string
  readonly params: readonly SqlValue[]
  readonly next: number
} {
  const size = [1, 4, 16, 64].find((most) => most >= lists.length) ?? lists.length
  const filled = Array.from({ length: size }, (_, at) => lists[at] ?? lists.at(-1) ?? '')
  const text = `list IN (${placeholders(size)}) AND standing IN (${standings.join(', ')})`
  return { text, params: filled, next: size + 1 }
}
