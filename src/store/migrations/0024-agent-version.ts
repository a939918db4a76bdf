import type { Migration } from './migration.ts'

/**
 * The version of the agent that a session had last, so that a changed one is noticed after a start too; and the agent
 * as it was at the start, for sessions of the API, which keep it.
 */
export const agentVersions: Migration = {
  version: 24,
  name: 'agent-version',
  statements: () => [
    'ALTER TABLE sessions ADD COLUMN agent_version TEXT',
    'ALTER TABLE sessions ADD COLUMN agent_profile TEXT',
  ],
}
