import type { Migration } from './migration.ts'

/**
 * A token says which other one has made it. A node's session is listed in its namespace, which is its whole id (S42).
 */
export const tokenMakers: Migration = {
  version: 43,
  name: 'token-makers',
  statements: () => ['ALTER TABLE tokens ADD COLUMN made_by TEXT', ...nodes()],
}

const LISTED = 'sessions JOIN session_activity AS activity ON activity.no = sessions.no'

function nodes(): readonly string[] {
  const where = "kind = 'node' AND shelf <> 2"
  return [
    `INSERT INTO session_listings (list, standing, hour, no)
      SELECT 'n:' || id, shelf % 4, shelf / 1440, sessions.no FROM ${LISTED} WHERE ${where}`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT 'n:' || id, shelf % 4, shelf / 1440, 1 FROM ${LISTED} WHERE ${where}`,
    `INSERT INTO session_counts (list, standing, hour, sessions)
      SELECT 'n:' || id, shelf % 4, -1, 1 FROM ${LISTED} WHERE ${where}`,
  ]
}
