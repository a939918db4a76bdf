import { type Fields, isFields } from '../../shared/fields.ts'
import { dropped, type InboundReading, readSafely, wordOf } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { readDeparture } from './read-departure.ts'
import { readDelete, readEdit, readMessage, readMigration } from './read-message.ts'
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
