import type { Fields } from '../../shared/fields.ts'
import { dropped, type InboundReading } from '../../shared/reading.ts'
import { timeOfStamp } from '../address.ts'
import { isOwn, keyBase, readPlace, readSender, stampOf } from './read-message.ts'
import type { InboundContext } from './reading.ts'

/** The message by which a channel shows that somebody has left it, or was put out of it: its user is whoever left. */
export function readDeparture(event: Fields, context: InboundContext): InboundReading {
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
