import type { ReloadReport } from '../../core/operate-config.ts'
import { object, texts } from './shape.ts'

export const reload = object<ReloadReport>(
  { wider: texts, narrower: texts, other: texts, warnings: texts, later: texts },
  'Reload',
)
