import type { Migration } from './migration.ts'

/**
 * A message that was forgotten is known by when it was sent (decision 0038); an answer, by when that was
 * begun to be sent: an operator may have one sent again days later.
 */
export const saidAt: Migration = {
  version: 48,
  name: 'said-at',
  statements: () => [
    `CREATE INDEX inbox_said_at ON inbox (
      CASE WHEN json_valid(dispatch) THEN json_extract(dispatch, '$.event.sentAt') END
    ) WHERE message_id IS NOT NULL`,
    "CREATE INDEX outbox_forgotten ON outbox (started_at) WHERE reason = 'it was forgotten'",
  ],
}
