import type { Migration } from './migration.ts'

/**
 * The events that name files are found by an index of their own: whether one still names a file is asked often. A limit
 * of age notes when it was looked at last, so that a step of the clock is seen.
 */
export const filesAndMarks: Migration = {
  version: 38,
  name: 'files-and-marks',
  statements: () => [
    `CREATE INDEX events_with_files ON events (session_no, seq) WHERE instr(data, '"media":"') > 0`,
    'ALTER TABLE retention_marks ADD COLUMN seen_at BIGINT',
  ],
}
