import type { Migration } from './migration.ts'

/** The sessions of tasks, each with the session whose turn began it. */
export const tasks: Migration = {
  version: 30,
  name: 'tasks',
  statements: () => [
    'ALTER TABLE sessions ADD COLUMN parent_id TEXT',
    'CREATE INDEX sessions_of_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL',
  ],
}
