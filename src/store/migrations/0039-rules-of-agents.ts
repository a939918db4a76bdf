import type { Migration } from './migration.ts'

/**
 * A rule that an owner gave in a chat is for the agent that had asked. Where its question is gone, that is known only
 * as long as one agent alone has had conversations; else the rule ends, and the tool is asked about again.
 */
export const rulesOfAgents: Migration = {
  version: 39,
  name: 'rules-of-agents',
  statements: () => [
    'ALTER TABLE standing_rules ADD COLUMN agent_id TEXT',
    `UPDATE standing_rules SET agent_id = COALESCE(
      (SELECT sessions.agent_id FROM approvals JOIN sessions ON sessions.id = approvals.session_id
        WHERE approvals.code = standing_rules.code),
      (SELECT MIN(agent_id) FROM sessions HAVING COUNT(DISTINCT agent_id) = 1))`,
    'DELETE FROM standing_rules WHERE agent_id IS NULL',
  ],
}
