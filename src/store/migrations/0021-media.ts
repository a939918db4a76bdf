import type { Migration } from './migration.ts'

/**
 * The files that the events of a session name: a file of the media store that stands in no row here belongs to nobody
 * and is deleted.
 */
export const media: Migration = {
  version: 21,
  name: 'media',
  statements: ({ clustered }) => [
    `CREATE TABLE media_uses (
      media_id TEXT NOT NULL,
      session_no BIGINT NOT NULL,
      PRIMARY KEY (media_id, session_no)
    )${clustered}`,
    'CREATE INDEX media_uses_by_session ON media_uses (session_no)',
  ],
}
