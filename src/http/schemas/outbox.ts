import type { NotificationReport, RestorationReport, UnansweredMessage } from '../../core/operate-outbox.ts'
import { count, list, maybe, object, oneOf, text, texts, time } from './shape.ts'

/** The fields of a restoration without the messages that were not answered for it. */
export const restored = {
  at: time,
  lastAt: time,
  state: oneOf<RestorationReport['state']>({ found: true, held: true, resumed: true, discarded: true }),
  held: count,
}
const unanswered = object<UnansweredMessage>({ inboxId: text, address: text, title: maybe(text), sentAt: time })

export const restoration = object<RestorationReport>({ ...restored, unanswered: list(unanswered) }, 'Restoration')
export const restorations = list(restoration)

export const notification = object<NotificationReport>(
  {
    status: oneOf({ delivered: true, queued: true, refused: true, lost: true }),
    to: text,
    traceId: text,
    reason: maybe(text),
    messageIds: texts,
  },
  'Notification',
)
