import type { Migration } from './migration.ts'

/** Adds the file that an outbox row sends: it is kept until the row has ended. */
export const sentFiles: Migration = {
  version: 33,
  name: 'sent_files',
  statements: () => [
    'ALTER TABLE outbox ADD COLUMN media TEXT',
    'CREATE INDEX outbox_media ON outbox (media) WHERE media IS NOT NULL',
  ],
}
