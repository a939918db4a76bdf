import { integer } from './rows.ts'
import { type Key, MOST_WALKED, membersOf, type WantedLists } from './session-list-keys.ts'
import { HOUR_MS, hourOf, hourOfShelf, SPAN_MS, spanOf, WHENEVER } from './session-listing.ts'
import { placeholders, type Sql, type SqlRow } from './sql.ts'

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

const IN_HOUR = 'SELECT sessions, by_span FROM session_counts WHERE list = $1 AND standing = $2 AND hour = $3'
const IN_HOURS_AFTER =
  'SELECT SUM(sessions) AS sessions FROM session_counts WHERE list = $1 AND standing = $2 AND hour > $3'
const IN_SPANS = 'SELECT SUM(sessions) AS sessions FROM session_spans WHERE list = $1 AND span > $2 AND span < $3'
const ONE_BY_ONE = `SELECT COUNT(*) AS sessions FROM session_listings AS listing CROSS JOIN session_activity AS activity
  WHERE list = $1 AND standing = $2 AND hour = $3 AND activity.no = listing.no AND last_activity_at >= $4`

/** The index of activities gives the rest of a span, a part of it at a time. */
const AFTER_A_PART = `SELECT last_activity_at, no FROM session_activity
  WHERE (last_activity_at, no) >= ($1, $2) AND last_activity_at < $3
  ORDER BY last_activity_at, no LIMIT 1 OFFSET ${MOST_WALKED}`
const IN_A_PART = `SELECT COUNT(*) AS sessions FROM session_activity AS activity
  WHERE (last_activity_at, no) >= ($4, $5) AND (last_activity_at, no) < ($6, $7) AND EXISTS (SELECT 1
    FROM session_listings AS listing WHERE list = $1 AND standing = $2 AND hour = $3 AND listing.no = activity.no)`

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
  return later + (await countToEndOfSpan(sql, { list, standing, since }))
}

async function countToEndOfSpan(sql: Sql, { list, standing, since }: Cut): Promise<number> {
  const end: Key = { at: (spanOf(since) + 1) * SPAN_MS, no: 0 }
  let sum = 0
  let begin: Key = { at: since, no: 0 }
  for (;;) {
    const next = await sql.get(AFTER_A_PART, [begin.at, begin.no, end.at])
    const upTo = next === undefined ? end : { at: integer(next, 'last_activity_at'), no: integer(next, 'no') }
    const place = [list, standing, hourOf(since)] as const
    sum += sessionsOf(await sql.get(IN_A_PART, [...place, begin.at, begin.no, upTo.at, upTo.no]))
    if (next === undefined) return sum
    begin = upTo
  }
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
