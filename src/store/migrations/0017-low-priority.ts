import type { Migration } from './migration.ts'

/**
 * A row says itself what goes ahead of it, so that no restart and no repeat forgets. What an older version left to be
 * sent is known from what it answers: nobody waits behind a flood that began before the upgrade.
 */
export const lowPriority: Migration = {
  version: 17,
  name: 'low-priority',
  statements: () => [
    'ALTER TABLE outbox ADD COLUMN low_priority TEXT',
    `UPDATE outbox SET low_priority = '{}' WHERE ${OWED} AND EXISTS (${OF_TURN} AND decision LIKE ${PUBLIC})
      AND NOT EXISTS (${OF_TURN} AND decision NOT LIKE ${PUBLIC})`,
    `UPDATE outbox SET low_priority = '{}' WHERE ${OWED} AND session_id IS NULL
      AND EXISTS (SELECT 1 FROM inbox WHERE inbox.id = outbox.source AND decision NOT LIKE '%"role":"owner"%')`,
  ],
}

const OWED = "state <> 'sent' AND state IN ('planned', 'sending', 'waiting', 'uncertain')"
const OF_TURN = 'SELECT 1 FROM inbox WHERE inbox.turn_id = outbox.source'
const PUBLIC = `'%"public":true%'`
