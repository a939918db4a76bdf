import type { Migration } from './migration.ts'

/**
 * Whose words a session's model was shown, beside those of its participants. What is on record from before tells it of
 * imported conversations, of what other sessions delivered, and of messages that bots and other sessions wrote; what was
 * quoted or read elsewhere before this is known of no session.
 */
export const authors: Migration = {
  version: 13,
  name: 'authors',
  statements: ({ clustered }) => [
    `CREATE TABLE authors (
      session_id TEXT NOT NULL,
      author TEXT NOT NULL,
      PRIMARY KEY (session_id, author)
    )${clustered}`,
    `INSERT INTO authors (session_id, author)
      SELECT DISTINCT sessions.id, 'nobody' FROM events JOIN sessions ON sessions.no = events.session_no
      WHERE type = 'assistant_posted' OR (type = 'user_message'
        AND (data LIKE '%"sender":{"id":%"kind":"bot"%' OR data LIKE '%"from":{%' OR data LIKE '%"quoted":{%'
          OR data LIKE '%"id":"imported"%' OR data LIKE '%"data":"%' OR data LIKE '%"kind":"anonymous"%'))
        OR (type = 'tool_result' AND data LIKE '%"tool":"sessions_%')`,
  ],
}
