import type { EventType } from '../core/event.ts'
import { REMOVALS } from '../core/forgetting.ts'
import type { SessionId } from '../core/ids.ts'
import { integer } from './rows.ts'
import type { Sql } from './sql.ts'

/** Returns true if one of these events says that words are to be shown no more. */
export function isRemoval(events: readonly { readonly type: EventType }[]): boolean {
  return events.some(({ type }) => REMOVALS.some((one) => one === type))
}

const ALL = 'removals'
const RAISE = `INSERT INTO counters (name, value) VALUES ('${ALL}', 1)
  ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`
const NOTE =
  'INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/**
 * Notes, in the transaction that does it, that words are taken out of the store: whoever has read them notices at the
 * commit of what is made of them. Returns the number of it.
 */
export async function addRemoval(sql: Sql): Promise<number> {
  const row = await sql.get(RAISE, [])
  return row === undefined ? 0 : integer(row, 'value')
}

/**
 * Does so for words of a session. By its id: one that is begun under that of a deleted session has lost these words.
 */
export async function noteRemoval(sql: Sql, session: SessionId): Promise<void> {
  await sql.run(NOTE, [`${ALL} of ${session}`, await addRemoval(sql)])
}

/** Returns the session whose removals a counter of this name has; undefined for any other counter. */
export function sessionShortenedBy(counter: string): SessionId | undefined {
  const start = `${ALL} of `
  return counter.startsWith(start) ? (counter.slice(start.length) as SessionId) : undefined
}

/** Returns how often words were taken out of a session so far. */
export async function countRemovals(sql: Sql): Promise<number> {
  const row = await sql.get('SELECT value FROM counters WHERE name = $1', [ALL])
  return row === undefined ? 0 : integer(row, 'value')
}

/** Returns whether words were taken out since; of one of these sessions, which may be gone, or of any. */
export async function hasRemovedSince(sql: Sql, count: number, sessions?: readonly SessionId[]): Promise<boolean> {
  if (sessions === undefined) return (await countRemovals(sql)) > count
  const row = await sql.get(
    `SELECT COUNT(*) AS unchanged FROM sessions LEFT JOIN counters ON name = '${ALL} of ' || id
      WHERE id IN (SELECT value FROM json_each($1)) AND COALESCE(value, 0) <= $2`,
    [JSON.stringify(sessions), count],
  )
  return row === undefined || integer(row, 'unchanged') < new Set(sessions).size
}
