import type { Decided, Decision, TraceStep } from '../core/dispatch.ts'
import type { InboundEvent } from '../core/message.ts'
import { stop } from './trace.ts'

const ANSWERED = stop(
  'restoration',
  'the platform shows an answer of mine to it: the database knows less than there was',
)
const OLDER = stop(
  'restoration',
  'it was sent before the older copy of the database was put back: it may be answered already',
)

/**
 * Pure: what was said before the database was put back is kept and not answered (decision 0013), since the database
 * does not know what was answered meanwhile; neither is what the platform shows as answered, where the whole folder was
 * put back and nothing else shows it. `restoredAt` is the last time a database was found to be put back.
 */
export function asOldState({ dispatch, decision }: Decided, restoredAt: number | undefined): Decided {
  const step = whyOld(dispatch.event, restoredAt)
  return step === undefined
    ? { dispatch, decision }
    : { dispatch, decision: unanswered(decision, step, dispatch.event.kind === 'edit') }
}

function whyOld(event: InboundEvent, restoredAt: number | undefined): TraceStep | undefined {
  if ('text' in event && event.answered === true) return ANSWERED
  return restoredAt !== undefined && event.sentAt <= restoredAt ? OLDER : undefined
}

function unanswered(decision: Decision, step: TraceStep, edit: boolean): Decision {
  const { identity } = decision
  const trace = [...decision.trace, step]
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
