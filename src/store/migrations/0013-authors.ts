import type { Migration } from './migration.ts'

/**
 * Adds the authors whose words a session's model was shown, beside its participants. Existing rows yield them for
 * imported conversations, for deliveries of other sessions, and for messages that bots and other sessions wrote;
 * earlier quotes and reads from elsewhere are not recorded for any session.
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
