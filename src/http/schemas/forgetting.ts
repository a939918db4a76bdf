import { type ForgetCounts, type ForgetReceipt, NOTHING_FORGOTTEN } from '../../core/forgetting.ts'
import type { RetentionReport } from '../../core/operate-forgetting.ts'
import { count, list, object, objectWith, oneOf, record, text, texts } from './shape.ts'
import { retentionLimit } from './status.ts'

export const receipt = object<ForgetReceipt>(
  {
    id: text,
    state: oneOf({ planned: true, waits: true, done: true }),
    counts: objectWith<ForgetCounts>(
      Object.fromEntries(Object.keys(NOTHING_FORGOTTEN).map((store) => [store, count])),
      'ForgetCounts',
    ),
    platforms: record(text),
    backups: texts,
    exports: texts,
  },
  'ForgetReceipt',
)
export const retention = list(
  object<RetentionReport>({ ...retentionLimit, sessions: count, events: count }, 'RetentionReport'),
)
