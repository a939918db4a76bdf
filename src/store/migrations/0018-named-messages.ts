import type { Migration } from './migration.ts'

/**
 * A turn names the messages that it takes by their rows. What waited in an older version gets its name here, by
 * message, chat, sender and words; several texts of one message can wait at a time, so they are found by the message
 * alone. A row that cannot be read stays as it is, and without a name.
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

/**
 * The chat is part of a message's name where a session joins several: `telegram:group:-100`. A group that moved to
 * another id since is the one left where no chat is the same.
 */
const ROW_OF_EVENT = `SELECT inbox.id FROM inbox WHERE inbox.state = 'waiting' AND inbox.kind = 'run'
  AND inbox.session_id = (SELECT id FROM sessions WHERE no = events.session_no)
  AND inbox.message_id = ${inEvent('messageId')}
  AND ${inDispatch('text')} = ${inEvent('text')}
  AND ${inDispatch('sender.id')} = ${inEvent('sender.id')}
  AND (${inDispatch('kind')} = 'edit') = (events.type = 'message_edited')
  AND ${inEvent('triggers')} = 1
  ORDER BY ${inEvent('chat')} LIKE '%:' || ${inDispatch('address.chat')} DESC LIMIT 1`

function inEvent(field: string): string {
  return `CASE WHEN json_valid(events.data) THEN json_extract(events.data, '$.${field}') END`
}

function inDispatch(field: string): string {
  return `CASE WHEN json_valid(inbox.dispatch) THEN json_extract(inbox.dispatch, '$.event.${field}') END`
}
