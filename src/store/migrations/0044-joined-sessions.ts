import type { Migration } from './migration.ts'

/**
 * The main session and that of a person join chats of several channels and are in no namespace, although their ids of
 * before begin with one of these channels: they leave its lists, and are found by an index (S42).
 */
export const joinedSessions: Migration = {
  version: 44,
  name: 'joined-sessions',
  statements: () => [
    `CREATE INDEX sessions_joined ON sessions (id) WHERE ${JOINED}`,
    `DELETE FROM session_listings WHERE ${OF_NAMESPACE} AND no IN (SELECT no FROM sessions WHERE ${JOINED})`,
    `DELETE FROM session_counts WHERE ${OF_NAMESPACE}`,
    `DELETE FROM session_spans WHERE ${OF_NAMESPACE}`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT list, standing, hour, COUNT(*) FROM session_listings WHERE ${OF_NAMESPACE} GROUP BY list, standing, hour`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT list, standing, -1, SUM(sessions) FROM session_counts WHERE ${OF_NAMESPACE} GROUP BY list, standing`,
    `UPDATE session_counts SET by_span = 1 WHERE ${OF_NAMESPACE} AND standing = 0 AND hour >= 0 AND sessions > 1000`,
    `INSERT INTO session_spans (list, span, sessions)
      SELECT kept.list, last_activity_at / 10000, COUNT(*) FROM session_counts AS kept
      CROSS JOIN session_listings AS listing CROSS JOIN session_activity AS activity
      WHERE by_span = 1 AND kept.list >= 'n:' AND kept.list < 'n;' AND listing.list = kept.list
      AND listing.standing = kept.standing AND listing.hour = kept.hour AND activity.no = listing.no GROUP BY 1, 2`,
  ],
}

const JOINED = `(kind = 'main' OR SUBSTR(display_key, 1, 7) = 'direct:'
  OR SUBSTR(display_key, 1, LENGTH(agent_id) + 14) = 'agent:' || agent_id || ':direct:')`
const OF_NAMESPACE = "list >= 'n:' AND list < 'n;'"
