import type { Migration } from './migration.ts'

/**
 * Indexes the rows of no session by age, which is part of their id, so that they can age out. Only such rows are in the
 * index: a message that is answered pays nothing for it.
 */
export const ageing: Migration = {
  version: 14,
  name: 'ageing',
  statements: () => [
    "CREATE INDEX inbox_ageing ON inbox (id) WHERE session_id IS NULL AND state = 'done'",
    'CREATE INDEX outbox_ageing ON outbox (id) WHERE session_id IS NULL',
    'CREATE INDEX notices_by_time ON notices (told_at)',
  ],
}
