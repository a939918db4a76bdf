import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { type AnswerAgain, askAgain } from '../turns/ask-again.ts'
import { payersOf } from '../turns/payers.ts'
import { onlyKnown } from './joined-session.ts'
import { staysInWords, takeBackSafely, type UndoCommandDeps } from './undo.ts'

export interface RetryCommandDeps extends UndoCommandDeps {
  readonly answerAgain: AnswerAgain
}

/**
 * `/retry` takes the last answer back and has the same words answered once more, in one commit. It is a call of the
 * model, so it is for people who were let in by name.
 */
export function retryCommand(deps: RetryCommandDeps): ChatCommand {
  return {
    name: 'retry',
    description: 'Take back my last answer here and answer once more',
    who: 'anyone',
    run: (call) => retry(call, deps),
  }
}

async function retry(call: CommandCall, deps: RetryCommandDeps): Promise<string> {
  if (call.decision.public) throw onlyKnown()
  const [payer] = payersOf(deps.channels, [call]).askers
  const outside = await takeBackSafely(call, { ...deps, again: true }, async (tx, session, exchange) => {
    await askAgain(tx, session, deps.clock.now(), { ...exchange, payer })
    await deps.answerAgain(tx, session)
  })
  if (outside === undefined) return 'There is nothing to answer again here.'
  return `I am answering that once more.${staysInWords(outside)}`
}
