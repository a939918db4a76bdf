import type { AdmissionReport } from '../../core/operate-admissions.ts'
import { count, list, maybe, object, oneOf, text, time } from './shape.ts'

export const admission = object<AdmissionReport>(
  {
    code: text,
    kind: text,
    key: text,
    name: text,
    state: oneOf({ asked: true, admitted: true, denied: true }),
    askedAt: time,
    toldAt: maybe(time),
    decidedAt: maybe(time),
    decidedBy: maybe(text),
    handled: maybe(count),
    ruledBy: maybe(text),
  },
  'Admission',
)
export const admissions = list(admission)
