import type { Dialect, Migration } from './migration.ts'

/**
 * The lists of sessions are kept beside the sessions, each with its counts by the hour of the last activity, in hours
 * with many open ones also by ten seconds, so that a page and the exact total of a list cost the same however many
 * sessions there are (decision 0041). A session also says when it was exported last.
 */
export const sessionLists: Migration = {
  version: 41,
  name: 'session-lists',
  statements: (dialect) => [
    'ALTER TABLE session_activity ADD COLUMN exported_at BIGINT',
    'ALTER TABLE session_activity ADD COLUMN shelf BIGINT',
    ...tables(dialect),
    ...shelves(),
    ...listings(dialect),
    ...counts(),
    ...spans(),
  ],
}

function tables({ clustered }: Dialect): readonly string[] {
  return [
    `CREATE TABLE session_listings (
      list TEXT NOT NULL,
      standing INTEGER NOT NULL,
      hour BIGINT NOT NULL,
      no BIGINT NOT NULL,
      PRIMARY KEY (list, standing, hour, no)
    )${clustered}`,
    `CREATE TABLE session_counts (
      list TEXT NOT NULL,
      standing INTEGER NOT NULL,
      hour BIGINT NOT NULL,
      sessions BIGINT NOT NULL,
      by_span INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (list, standing, hour)
    )${clustered}`,
    `CREATE TABLE session_spans (
      list TEXT NOT NULL,
      span BIGINT NOT NULL,
      sessions BIGINT NOT NULL,
      PRIMARY KEY (list, span)
    )${clustered}`,
  ]
}

/** Ten seconds × 4, and 1 for an ended one; 2 for a task, which is in no list. */
function shelves(): readonly string[] {
  return [
    `UPDATE session_activity SET shelf = last_activity_at / 10000 * 4
      + CASE WHEN inactive_at IS NULL THEN 0 ELSE 1 END`,
    'UPDATE session_activity SET shelf = 2 WHERE no IN (SELECT no FROM sessions WHERE parent_id IS NOT NULL)',
  ]
}

const PLACE = 'shelf % 4, shelf / 1440'
const INTO = 'INSERT INTO session_listings (list, standing, hour, no)'
const LISTED = 'sessions JOIN session_activity AS activity ON activity.no = sessions.no'

/** In the order of the key: then no page is written twice. */
function listings({ positionOf }: Dialect): readonly string[] {
  const first = positionOf("':'", 'id')
  const further = positionOf("':'", 'substr(id, upto + 1)')
  return [
    `${INTO} SELECT '', ${PLACE}, no FROM session_activity WHERE shelf <> 2 ORDER BY 2, 3, 4`,
    `${INTO} SELECT 'n:' || substr(id, 1, ${first} - 1), ${PLACE}, sessions.no FROM ${LISTED}
      WHERE shelf <> 2 AND ${first} > 0 ORDER BY 1, 2, 3, 4`,
    `WITH RECURSIVE cuts (no, shelf, id, upto, depth) AS (
        SELECT sessions.no, shelf, id, ${first}, 1 FROM ${LISTED} WHERE shelf <> 2 AND id LIKE '%:%:%'
        UNION ALL
        SELECT no, shelf, id, upto + ${further}, depth + 1 FROM cuts WHERE depth < 4 AND ${further} > 0
      )
      ${INTO} SELECT 'n:' || substr(id, 1, upto - 1), ${PLACE}, no FROM cuts WHERE depth > 1 ORDER BY 1, 2, 3, 4`,
    `${INTO} SELECT 'p:' || participant, ${PLACE}, sessions.no
      FROM participants JOIN sessions ON sessions.id = session_id JOIN session_activity AS activity
      ON activity.no = sessions.no WHERE shelf <> 2 ORDER BY 1, 2, 3, 4`,
  ]
}

function counts(): readonly string[] {
  return [
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT list, standing, hour, COUNT(*) FROM session_listings GROUP BY list, standing, hour`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT list, standing, -1, SUM(sessions) FROM session_counts GROUP BY list, standing`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT '', 2, -1, COUNT(*) FROM session_activity WHERE shelf = 2 HAVING COUNT(*) > 0`,
  ]
}

function spans(): readonly string[] {
  return [
    'UPDATE session_counts SET by_span = 1 WHERE standing = 0 AND hour >= 0 AND sessions > 1000',
    `INSERT INTO session_spans (list, span, sessions)
      SELECT kept.list, last_activity_at / 10000, COUNT(*) FROM session_counts AS kept
      CROSS JOIN session_listings AS listing CROSS JOIN session_activity AS activity
      WHERE by_span = 1 AND listing.list = kept.list AND listing.standing = kept.standing
      AND listing.hour = kept.hour AND activity.no = listing.no GROUP BY 1, 2`,
  ]
}
