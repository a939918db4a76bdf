import type { Decided, Decision } from '../core/dispatch.ts'
import { stop } from './trace.ts'

const STEP = stop(
  'restoration',
  'it was sent before the older copy of the database was put back: it may be answered already',
)

/**
 * Pure: what was said before the database was put back is kept and not answered (RELIABILITY rule 26), since the database
 * does not know what was answered meanwhile. `restoredAt` is the last time that happened.
 */
export function asOldState({ dispatch, decision }: Decided, restoredAt: number | undefined): Decided {
  if (restoredAt === undefined || dispatch.event.sentAt > restoredAt) return { dispatch, decision }
  return { dispatch, decision: unanswered(decision, dispatch.event.kind === 'edit') }
}

function unanswered(decision: Decision, edit: boolean): Decision {
  const { identity } = decision
  const trace = [...decision.trace, STEP]
  switch (decision.kind) {
    case 'run': {
      if (edit) return { kind: 'amend', reason: 'edited', identity, trace }
      const { route, addressed } = decision
      return { kind: 'context', reason: 'restored', route, addressed, identity, trace }
    }
    case 'control':
    case 'refuse':
      return { kind: 'ignore', reason: 'restored', identity, trace }
    case 'context':
    case 'amend':
    case 'ignore':
      return decision
  }
}
