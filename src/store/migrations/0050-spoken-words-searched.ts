import type { Migration } from './migration.ts'

const WITH_VOICE_NOTES = `SELECT session_no FROM events
  WHERE instr(data, '"media":"') > 0 AND type = 'files_read' AND instr(data, '"spoken":"') > 0`
const MESSAGES = `seq IS NOT NULL AND session_no IN (${WITH_VOICE_NOTES})`

/** Sessions with voice notes are indexed anew with the next search: their index lacks what is said in these. */
export const spokenWordsSearched: Migration = {
  version: 50,
  name: 'spoken-words-searched',
  statements: () => [
    `DELETE FROM search_words WHERE rowid IN (SELECT no FROM search_docs WHERE ${MESSAGES})`,
    `DELETE FROM search_docs WHERE ${MESSAGES}`,
    `DELETE FROM search_progress WHERE session_no IN (${WITH_VOICE_NOTES})`,
  ],
}
