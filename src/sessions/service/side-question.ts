import type { Address } from '../../core/address.ts'
import type { AgentProfile } from '../../core/agent-profile.ts'
import { BudgetSpent, type Charge } from '../../core/budget.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { IdSource, PersonId, SessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { NO_USAGE, tokensOf, type Usage } from '../../core/model.ts'
import { failureCause } from '../../core/model-remedy.ts'
import type { Reader } from '../../core/outbound.ts'
import type { SessionIdentity } from '../../core/session.ts'
import { stripSilence } from '../../core/silence.ts'
import type { RunAgent, TurnResult } from '../../core/turn.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import type { ReceivedMessage } from '../view/received.ts'
import type { Transcript } from '../view/transcript.ts'

export interface SideQuestionDeps {
  readonly ids: Pick<IdSource, 'turn'>
  readonly logger: Logger
  /** Counts what no turn has cost. Never rejects. */
  spentBeside(this: void, usage: Usage): Promise<void>
  readonly transcript: Pick<Transcript, 'aside'>
  readonly running: Pick<RunningTurns, 'stopping'>
  readonly runAgent: RunAgent
  /** Shows typing until the returned function is called. */
  typing(place: Pick<Place, 'address' | 'session' | 'reader'>): () => void
  /** Returns true if the session may say something there now: its answer is no answer of a command (T31). */
  speaks(place: Place): boolean
  agent(session: SessionIdentity): AgentProfile
  /** Returns true if several people speak in the session. */
  joined(session: SessionIdentity): boolean
}

/** A session at one of its addresses, and who asks it there. */
interface Place {
  readonly address: Address
  readonly session: SessionIdentity
  readonly reader: Reader
  readonly person: PersonId | undefined
}

/** The place, the trace and the sender of the question. */
type AskedBy = Pick<Dispatch, 'traceId' | 'reply'> & {
  readonly reader: Reader
  /** The budgets that it must fit. */
  readonly charge?: Charge | undefined
}

/**
 * Answers a question with what the conversation says, and leaves nothing in it: no event, no tool, no later prompt
 * (K41). Rejects with `conflict` while another one of the conversation is answered, and with what the model fails with.
 */
export type AskAside = (session: SessionIdentity, question: ReceivedMessage, by: AskedBy) => Promise<string>

export function createAskAside(deps: SideQuestionDeps): AskAside {
  const asking = new Set<SessionId>()
  return async (session, question, by) => {
    if (asking.has(session.id))
      throw new ParleyError(
        'conflict',
        'I am answering another question beside this conversation; please ask again then.',
      )
    const { person } = question
    const place = { address: by.reply.address, session, reader: by.reader, person }
    if (!deps.speaks(place))
      throw new ParleyError('forbidden', 'I say nothing here now: a mute, `/send off` or the send policy forbids it.')
    asking.add(session.id)
    const stopTyping = deps.typing(place)
    try {
      const words = wordsOf(await ask(deps, session, { question, by }))
      if (deps.speaks(place)) return words
      throw new ParleyError('forbidden', 'Since you asked, it was forbidden that I answer you here.')
    } finally {
      stopTyping()
      asking.delete(session.id)
    }
  }
}

async function ask(
  { ids, logger, spentBeside, transcript, running, runAgent, agent, joined }: SideQuestionDeps,
  session: SessionIdentity,
  { question, by }: { readonly question: ReceivedMessage; readonly by: AskedBy },
): Promise<TurnResult> {
  const { skills: _, ...profile } = agent(session)
  const several = joined(session)
  const steps = runAgent(
    {
      ...(await transcript.aside(session, question)),
      ...{ turnId: ids.turn(), sessionId: session.id, traceId: by.traceId },
      agent: { ...profile, tools: [] },
      charge: by.charge,
      chatType: several ? by.reply.address.chatType : session.chatType,
      joined: several || undefined,
      spent: { steps: 0, usage: NO_USAGE },
      show() {},
      steer: async () => [],
    },
    running.stopping,
  )
  for (;;) {
    const step = await steps.next()
    if (!step.done) continue
    const { usage } = step.value
    await spentBeside(usage)
    const tokens = tokensOf(usage)
    logger.info('A side question was answered', { traceId: by.traceId, sessionId: session.id, tokens })
    return step.value
  }
}

function wordsOf(result: TurnResult): string {
  switch (result.kind) {
    case 'final': {
      const { text } = stripSilence(result.text)
      return text.trim() === '' ? 'I have nothing to say to that.' : text
    }
    case 'failed':
      if (result.cause instanceof BudgetSpent) throw result.cause
      throw new ParleyError(result.code, `I could not answer that: ${failureCause(result.code)}.`, {
        cause: result.cause,
      })
    case 'aborted':
      throw new ParleyError('unavailable', 'I was stopped before I had an answer; please ask again.')
  }
}
