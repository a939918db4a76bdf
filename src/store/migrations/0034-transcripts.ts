import type { Migration } from './migration.ts'

/** The transcripts of recordings, by the handle of each: the same recording is transcribed once. */
export const transcripts: Migration = {
  version: 34,
  name: 'transcripts',
  statements: () => [
    'CREATE TABLE transcripts (media_id TEXT PRIMARY KEY, said TEXT NOT NULL, heard_at BIGINT NOT NULL)',
  ],
}
