import type { HookedRun } from '../../core/operate-hooks.ts'
import { object, oneOf, text } from './shape.ts'

export const hookedRun = object<HookedRun>(
  { runId: text, session: text, status: oneOf<HookedRun['status']>({ accepted: true, repeated: true }) },
  'HookedRun',
)
