import { Tellings } from '../../../src/core/repeats.ts'
import type { ShownAgain } from '../../../src/sessions/forgetting/shown-again.ts'

/** Nothing that goes yet. */
export function shownAgain(changes: Partial<ShownAgain> = {}): ShownAgain {
  return { tellings: new Tellings(), lists: () => false, isSaidIn: () => false, ...changes }
}
