import { type Fields, isFields } from '../../shared/fields.ts'
import { dropped, type InboundReading, readSafely, wordOf } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { timeOfStamp } from '../address.ts'
import {
  isOwn,
  keyBase,
  readDelete,
  readEdit,
  readMessage,
  readMigration,
  readPlace,
  readSender,
  stampOf,
} from './read-message.ts'
import type { InboundContext } from './reading.ts'

/**
 * One Events API body, as parsed from JSON, to what it means. Pure and total: any value is either an event or dropped
 * with a reason to count, never an exception.
 */
export function readEventBody(given: unknown, context: InboundContext): InboundReading {
  const body = withoutNulls(given)
  const event = innerEvent(body)
  if (event === undefined) return dropped(`body:${wordOf(isFields(body) ? body.type : undefined)}`)
  return readSafely(wordOf(event.type), () => readEvent(event, context))
}

/** The event inside a body; `app_rate_limited` and the like have none. */
export function innerEvent(body: unknown): Fields | undefined {
  return isFields(body) && isFields(body.event) ? body.event : undefined
}

function readEvent(event: Fields, context: InboundContext): InboundReading {
  switch (event.type) {
    case 'app_mention':
      return readMessage(event, context)
    case 'message':
      return readAnyMessage(event, context)
    case 'channel_id_changed':
      return readMigration(event, context)
    default:
      return dropped(`event:${wordOf(event.type)}`)
  }
}

/** The subtype says what a `message` is about. */
function readAnyMessage(event: Fields, context: InboundContext): InboundReading {
  switch (event.subtype) {
    case 'message_changed':
      return readEdit(event, context)
    case 'message_deleted':
      return readDelete(event, context)
    case 'channel_leave':
    case 'group_leave':
      return readDeparture(event, context)
    default:
      return readMessage(event, context)
  }
}

/** The message by which a channel shows that somebody has left it, or was put out of it: its user is whoever left. */
function readDeparture(event: Fields, context: InboundContext): InboundReading {
  if (isOwn(event, context)) return dropped('own_message')
  const stamp = stampOf(event.ts)
  const address = readPlace(event, event, context)
  return {
    kind: 'event',
    event: {
      kind: 'departure',
      eventKey: `${keyBase(context)}:departure:${address.chat}/${stamp}`,
      address,
      sender: readSender(event, context),
      sentAt: timeOfStamp(stamp),
    },
  }
}
