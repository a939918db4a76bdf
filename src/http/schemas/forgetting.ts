import {
  type ForgetCounts,
  type ForgetReceipt,
  type ForgottenPerson,
  NOTHING_FORGOTTEN,
} from '../../core/forgetting.ts'
import type { PersonId } from '../../core/ids.ts'
import type { RetentionReport } from '../../core/operate-forgetting.ts'
import type { AuthorId } from '../../core/platform-id.ts'
import { count, id, list, maybe, object, objectWith, oneOf, record, text, texts } from './shape.ts'
import { retentionLimit } from './status.ts'

export const receipt = object<ForgetReceipt>(
  {
    id: text,
    state: oneOf({ planned: true, waits: true, done: true }),
    counts: objectWith<ForgetCounts>(
      Object.fromEntries(Object.keys(NOTHING_FORGOTTEN).map((store) => [store, count])),
      'ForgetCounts',
    ),
    whose: maybe(
      object<ForgottenPerson>({ ids: list(id<AuthorId>()), person: maybe(id<PersonId>()) }, 'ForgottenPerson'),
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
