import type { LogFields } from '../../core/logger.ts'
import { stripSilence } from '../../core/silence.ts'
import { sessionTitle, type Titled } from '../../core/titles.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StartedTurn } from './record-turn.ts'

export interface TurnLine {
  readonly sentence: string
  readonly fields: LogFields
}

/**
 * Returns the one line that the log has of a turn with an answer, at level info: where, its duration in ms, and the
 * tokens it cost; none of its words. Undefined for a turn without one: a failure has a line of its own.
 */
export function turnLine(
  { session, traceId, startedAt }: Pick<StartedTurn, 'traceId' | 'startedAt'> & { readonly session: Titled },
  result: TurnResult,
  now: number,
): TurnLine | undefined {
  if (result.kind !== 'final') return undefined
  const { usage, text, error } = result
  const fields = {
    where: sessionTitle(session),
    ms: Math.max(0, now - startedAt),
    tokens: usage.input + usage.output,
    traceId,
    ...(error === undefined ? {} : { error }),
  }
  return { sentence: stripSilence(text).silent ? 'The agent chose to say nothing' : 'Answered', fields }
}
