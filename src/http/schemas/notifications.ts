import type { NotificationReport } from '../../core/operate-notifications.ts'
import { maybe, object, oneOf, text, texts } from './shape.ts'

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
