import type { Migration } from './migration.ts'

/** An edit is known by when its message was sent, where the platform says so: the message itself may not have come. */
export const editsSaidAt: Migration = {
  version: 49,
  name: 'edits-said-at',
  statements: () => [
    'DROP INDEX inbox_said_at',
    `CREATE INDEX inbox_said_at ON inbox (
      CASE WHEN json_valid(dispatch)
        THEN COALESCE(json_extract(dispatch, '$.event.saidAt'), json_extract(dispatch, '$.event.sentAt')) END
    ) WHERE message_id IS NOT NULL`,
  ],
}
