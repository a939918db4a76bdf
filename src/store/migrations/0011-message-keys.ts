import type { Migration } from './migration.ts'

/**
 * A message of Telegram was known as `<bot>:message:<chat>/<message>`. Chats stand in no order of time, so what came
 * together lay scattered over the index. The message's number goes first now, and rows that are there are known by the
 * new key, so that nothing the platform gives again is taken for new.
 */
export const messageKeys: Migration = {
  version: 11,
  name: 'message-keys',
  statements: () => [
    rename('event_key', ''),
    rename(`SUBSTR(event_key, 1, LENGTH(event_key) - ${ADMITTED.length})`, ADMITTED),
  ],
}

/** Ends the key of a message that was stored once more when its author was let in. */
const ADMITTED = '#admitted'

/** `key` is the part of the key before `suffix`: it ends in the message's number, and a chat's may be negative. */
function rename(key: string, suffix: string): string {
  const ahead = `RTRIM(${key}, '0123456789')`
  const message = `SUBSTR(${key}, LENGTH(${ahead}) + 1)`
  const afterBot = `LTRIM(${ahead}, '0123456789')`
  const bot = `SUBSTR(${key}, 1, LENGTH(${ahead}) - LENGTH(${afterBot}))`
  const chat = `SUBSTR(${afterBot}, LENGTH(':message:') + 1, LENGTH(${afterBot}) - LENGTH(':message:/'))`
  const renamed = `${bot} || ':message:' || ${message} || '@' || ${chat} || '${suffix}'`
  return `UPDATE inbox SET event_key = ${renamed},
    dispatch = CASE WHEN kind = 'refuse' THEN REPLACE(dispatch, ${named('event_key')}, ${named(renamed)}) ELSE dispatch END
    WHERE channel = 'telegram' AND event_key LIKE '%${suffix}' AND ${afterBot} LIKE ':message:%/'`
}

/**
 * The key as it stands in a dispatch. What was refused is decided anew, from its dispatch, once its author is let in.
 */
function named(key: string): string {
  return `'"eventKey":"' || ${key} || '"'`
}
