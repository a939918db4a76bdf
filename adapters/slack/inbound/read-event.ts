import { type Fields, fieldsOf, isFields } from '../../shared/fields.ts'
import { dropped, type InboundReading, readSafely, wordOf } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { readDelete, readEdit, readMessage } from './read-message.ts'
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
      if (event.subtype === 'message_changed') return readEdit(fieldsOf(event), context)
      return event.subtype === 'message_deleted' ? readDelete(event, context) : readMessage(event, context)
    default:
      return dropped(`event:${wordOf(event.type)}`)
  }
}
