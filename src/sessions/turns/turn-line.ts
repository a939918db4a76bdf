import { calledBy } from '../../core/label.ts'
import type { LogFields } from '../../core/logger.ts'
import { NO_MODEL, tokensOf } from '../../core/model.ts'
import { sessionTitle, type Titled } from '../../core/titles.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { TurnEnding } from './record-turn.ts'
import type { StartedTurn } from './started-turn.ts'

export interface TurnLine {
  readonly sentence: string
  readonly fields: LogFields
}

export type LoggedTurn = Pick<StartedTurn, 'traceId' | 'startedAt' | 'asked'> & { readonly session: Titled }

/** Returns the fields of the line that the log has of a turn that failed. */
export function failureFields(
  { id: turnId, traceId }: Pick<StartedTurn, 'id' | 'traceId'>,
  { code, model, cause: err }: Extract<TurnResult, { kind: 'failed' }>,
): LogFields {
  // Nothing broke where there never was a model: the code says it all.
  const thrown = model === NO_MODEL ? {} : { err }
  return { turnId, traceId, code, ...(model === undefined ? {} : { model }), ...thrown }
}

/**
 * Returns the one line that the log has, at level info, of a turn that ended at `now`: where, for whom, the ms since
 * the message, the tokens it cost, and the reason where nothing was said; none of its words. Undefined for a turn that
 * failed before it had an answer: that has a line of its own, with the cause.
 */
export function turnLine(
  turn: LoggedTurn,
  result: Pick<TurnResult, 'kind'>,
  { inbox, usage, error }: TurnEnding,
  now: number,
): TurnLine | undefined {
  if (result.kind === 'failed') return undefined
  const { session, traceId, startedAt, asked } = turn
  const person = asked?.sender === undefined ? '' : calledBy(asked.sender)
  const fields = {
    where: sessionTitle(session),
    ...(person === '' || person === sessionTitle(session) ? {} : { person }),
    ms: Math.max(0, now - (asked?.at ?? startedAt)),
    tokens: tokensOf(usage),
    traceId,
    ...(error === undefined ? {} : { error }),
  }
  switch (inbox) {
    case 'answered':
      return { sentence: 'Answered', fields }
    case 'silent':
      return { sentence: 'The agent chose to say nothing', fields }
    case 'cancelled':
      return { sentence: 'Stopped before an answer', fields }
    default:
      return { sentence: 'Ended without an answer', fields: { ...fields, outcome: inbox } }
  }
}
