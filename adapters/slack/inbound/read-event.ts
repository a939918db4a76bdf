import { withoutNulls } from '../../shared/without-nulls.ts'
import { type Fields, fieldsOf, isFields, MalformedEvent } from './fields.ts'
import { readDelete, readEdit, readMessage } from './read-message.ts'
import { dropped, type InboundContext, type InboundReading, wordOf } from './reading.ts'

/**
 * One Events API body, as parsed from JSON, to what it means. Pure and total: any value is either an event or dropped
 * with a reason to count, never an exception.
 */
export function readEventBody(given: unknown, context: InboundContext): InboundReading {
  const body = withoutNulls(given)
  const event = innerEvent(body)
  if (event === undefined) return dropped(`body:${wordOf(isFields(body) ? body.type : undefined)}`)
  try {
    return readEvent(event, context)
  } catch (error) {
    // Even a mistake of ours must not stop anything: the event would come again and again.
    return dropped(`${error instanceof MalformedEvent ? 'malformed' : 'unreadable'}:${wordOf(event.type)}`)
  }
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
