import { type BudgetHit, BudgetSpent } from '../../core/budget.ts'
import { OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { ChannelId, TraceId } from '../../core/ids.ts'
import { NO_MODEL } from '../../core/model.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import { isScheduled } from '../../core/session.ts'
import { SILENCE, stripSilence } from '../../core/silence.ts'
import type { ReadContext, TurnResult } from '../../core/turn.ts'
import type { ContextRead } from '../../core/turn-end.ts'
import type { TurnEnding } from './record-turn.ts'
import type { StartedTurn } from './started-turn.ts'

/** Returns true if nobody in the chat waits for the answer: a schedule, another session or a client asked. */
export function askedElsewhere({ session, reply }: Pick<StartedTurn, 'session' | 'reply'>): boolean {
  return isScheduled(session) || reply.elsewhere !== undefined
}

/**
 * Returns the message of a turn's result to the chat; none for a stopped turn, for a failed one that nobody there asked
 * for, or where the answer is only read from the store (S44). An agent without a model says so only to those who
 * address it (R11). The address travels with the turn. An answer for people
 * whom nobody let in by name has low priority.
 */
export function replyOf(turn: StartedTurn, result: TurnResult): OutboundMessage | undefined {
  const unasked = askedElsewhere(turn)
  const isLeft = result.kind === 'aborted' && result.shown !== ''
  if (isLeft || (unasked && result.kind === 'failed')) return undefined
  if (hasNoModel(result) && turn.asked?.unaddressed) return undefined
  const { address, replyTo, elsewhere, reader } = turn.reply
  if (elsewhere === 'only') return undefined
  const common = {
    source: turn.id,
    session: turn.session,
    traceId: turn.traceId,
    address,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(reader === undefined ? {} : { reader }),
    ...priorityOf(turn),
  }
  // Nothing stands there but the line about a tool: it is taken away.
  if (result.kind === 'aborted') return { ...common, class: 'reply', text: SILENCE }
  return result.kind === 'final'
    ? {
        ...common,
        class: unasked ? 'effect' : 'reply',
        text: answerOf(turn, result),
        ...result.presented,
      }
    : { ...common, class: 'notice', ...failureOf(result, turn.traceId) }
}

/**
 * Returns the priority: everything said for strangers goes behind everything else, from the first word shown to the
 * last.
 */
export function priorityOf({ forStrangers }: StartedTurn): Pick<OutboundMessage, 'lowPriority'> {
  return forStrangers ? { lowPriority: {} } : {}
}

/** Failures caused by the model: their line replaces what was shown, which otherwise stays. */
const TAKES_BACK: readonly ErrorCode[] = ['model_refused', 'model_empty', 'model_cut']

function failureOf(
  result: Extract<TurnResult, { kind: 'failed' }>,
  traceId: TraceId,
): Pick<OutboundMessage, 'text' | 'below'> {
  const { code, cause, shown } = result
  if (hasNoModel(result)) return { text: WITHOUT_MODEL }
  const line = cause instanceof BudgetSpent ? cause.message : calmLine(code, traceId)
  if (TAKES_BACK.includes(code)) return { text: line }
  if (shown === undefined) return { text: line, below: {} }
  // Only the line about a tool stands there.
  if (shown === '') return { text: line }
  return { text: `The answer broke off here. ${line}`, below: { shown } }
}

/**
 * Returns the text of an answer as its chat reads it, below the tools that were used on the way. An empty answer stays
 * empty, whatever tools were used before.
 */
export function answerOf(
  turn: Pick<StartedTurn, 'session' | 'reply'>,
  { text, preface }: Extract<TurnResult, { kind: 'final' }>,
): string {
  if (preface === undefined || askedElsewhere(turn) || stripSilence(text).silent) return text
  return `${preface}\n\n${text}`
}

/** Returns true where the agent has no model that could have been asked. */
export function hasNoModel(result: TurnResult): boolean {
  return result.kind === 'failed' && result.model === NO_MODEL
}

const WITHOUT_MODEL =
  'I have no language model yet, so I cannot answer. Whoever runs me sets ANTHROPIC_API_KEY or OPENAI_API_KEY, or names a model in my configuration, and starts me again.'

/** The outcome of the reply in delivery. */
export type ReplyFate = 'silent' | 'empty' | 'denied' | 'parted' | 'planned'

/** The outcome of a message whose answer is not sent. */
const REFUSALS: Partial<Record<ReplyFate, TurnEnding['inbox']>> = {
  denied: 'refused: send_policy',
  parted: 'refused: parted',
}

/**
 * Returns the recorded end of a turn. A reply denied at the exit counts as refused, not as answered (T31). Without
 * `fate` the answer went to no chat.
 */
export function endingOf(result: TurnResult, fate: ReplyFate | undefined): TurnEnding {
  const { precheck, usage, steps } = result
  if (precheck === undefined) return endOf(result, fate)
  // The silence of the check is no answer of the agent: no later prompt has it.
  if (!precheck.answer && result.kind === 'final')
    return { kind: 'completed', outcome: 'silent', inbox: 'silent', usage, steps, precheck }
  return { ...endOf(result, fate), precheck }
}

function endOf(result: TurnResult, fate: ReplyFate | undefined): TurnEnding {
  const { usage, steps } = result
  switch (result.kind) {
    case 'aborted':
      return { kind: 'cancelled', outcome: 'failed', inbox: 'cancelled', usage, steps }
    case 'failed':
      return { kind: 'failed', outcome: 'failed', inbox: 'failed', usage, steps, ...failureIn(result) }
    case 'final': {
      if (fate === 'empty')
        return { kind: 'failed', outcome: 'failed', inbox: 'failed', usage, steps, error: 'model_empty' }
      const silent = fate === undefined ? stripSilence(result.text).silent : fate === 'silent'
      const outcome = silent ? 'silent' : 'answered'
      const inbox = REFUSALS[fate ?? 'planned'] ?? outcome
      const answer = { text: result.text, model: result.model }
      return {
        kind: 'completed',
        outcome,
        inbox,
        usage,
        steps,
        answer,
        ...(result.error === undefined ? {} : { error: result.error }),
        ...(result.cut ? { cut: true } : {}),
        ...(result.context?.messages === undefined ? {} : { context: contextOf(result.context) }),
      }
    }
  }
}

function failureIn({
  code: error,
  cause,
  model,
  shown,
}: Extract<TurnResult, { kind: 'failed' }>): Pick<TurnEnding, 'error' | 'model' | 'partial' | 'budget'> {
  const budget = hitOf(cause)
  return {
    error,
    ...(model === undefined ? {} : { model }),
    ...(budget === undefined ? {} : { budget }),
    ...(shown === undefined || shown === '' ? {} : { partial: shown }),
  }
}

/** Returns the budget for which a turn failed, if it did. */
export function hitOf(cause: unknown): BudgetHit | undefined {
  return cause instanceof BudgetSpent ? cause.hit : undefined
}

function contextOf({ messages = 0, summary, read, shortened }: ReadContext): ContextRead {
  return {
    ...{ messages, tokens: read },
    ...(summary ? { summary } : {}),
    ...(shortened ? { shortened } : {}),
  }
}

const CALM_LINES: Partial<Record<ErrorCode, string>> = {
  model_unconfigured: 'I have no language model to answer with yet.',
  model_auth: 'I could not sign in to my language model.',
  model_no_credit: 'The credit of my language model is used up.',
  model_overloaded: 'My language model is overloaded right now; please try again in a few minutes.',
  model_stalled: 'My language model stopped answering; please try again.',
  model_refused: 'I cannot help with that.',
  model_context_length: 'This conversation has grown too long for my language model; `/new` starts a fresh one.',
  model_failed: 'The connection to my language model failed; please try again in a few minutes.',
  model_invalid_request: 'My language model did not take this conversation as it stands; `/new` starts a fresh one.',
  model_bad_call: 'My language model did not get a tool to work; please try again, perhaps in smaller steps.',
  model_empty: 'I could not come up with an answer; please try again.',
  model_cut: 'My answer reached its longest before I had said anything; please ask for less at a time.',
  agent_gone: 'The agent of this conversation is not in my configuration any more; `/new` starts a fresh one.',
  turn_limit: 'This conversation has had as many turns as it may have; `/new` starts a fresh one.',
  budget_spent: 'A budget of mine is used up; `/budget` says which, and when it begins anew.',
  unavailable: 'I could not write this conversation down, perhaps for a full disk; please try again in a few minutes.',
  quarantined: 'I gave up on this message after failing on it several times.',
}

/** The lines that name a command elsewhere, for clients: what they send is read as words. */
const CLIENT_LINES: Partial<Record<ErrorCode, (channel: ChannelId) => string>> = {
  model_context_length: () =>
    'This conversation has grown too long for my language model; begin a new chat, or a session of another name.',
  model_invalid_request: () =>
    'My language model did not take this conversation as it stands; begin a new chat, or a session of another name.',
  agent_gone: () =>
    'The agent of this conversation is not in my configuration any more; begin a new chat, or a session of another name.',
  turn_limit: (channel) =>
    `This conversation has had as many turns as it may have; begin a new chat, or a session of another name, or have an owner raise session.turnCap.${channel}.`,
  budget_spent: () => 'A budget of mine is used up; `parley why` says which.',
}

/**
 * Returns one calm line for people; the cause is in the log under the same trace id (C16). `channel` is where it was
 * asked.
 */
export function calmLine(code: ErrorCode, traceId: TraceId, channel?: ChannelId): string {
  const client = channel !== undefined && OWN_CHANNELS.includes(channel) ? CLIENT_LINES[code]?.(channel) : undefined
  return `${client ?? CALM_LINES[code] ?? 'Something went wrong on my side.'} (${traceId})`
}
