import type { Migration } from './migration.ts'

/**
 * A turn names the messages that it takes by their rows. What waited in an older version gets its name here, by the message
 * and its words; several texts of one message can wait at a time, so they are found by the message alone.
 */
export const namedMessages: Migration = {
  version: 18,
  name: 'named-messages',
  statements: () => [
    `UPDATE events SET data = '{"row":"' || (${ROW_OF_EVENT}) || '",' || substr(data, 2)
      WHERE session_no IN (SELECT sessions.no FROM sessions JOIN inbox ON inbox.session_id = sessions.id
        WHERE inbox.state = 'waiting')
      AND type IN ('user_message', 'message_edited') AND EXISTS (${ROW_OF_EVENT})`,
    "CREATE INDEX inbox_waiting_texts ON inbox (message_id) WHERE state = 'waiting'",
  ],
}

const ROW_OF_EVENT = `SELECT inbox.id FROM inbox WHERE inbox.state = 'waiting' AND inbox.kind = 'run'
  AND inbox.session_id = (SELECT id FROM sessions WHERE no = events.session_no)
  AND inbox.message_id = json_extract(events.data, '$.messageId')
  AND json_extract(inbox.dispatch, '$.event.text') = json_extract(events.data, '$.text')
  AND json_extract(events.data, '$.triggers') = 1 LIMIT 1`
