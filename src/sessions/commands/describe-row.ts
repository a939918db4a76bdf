import type { Admission } from '../../core/admission.ts'
import { hitInWords } from '../../core/budget-words.ts'
import { inWords } from '../../core/content-words.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { SessionEvent, ThreadReadData } from '../../core/event.ts'
import type { ChannelId, TurnId } from '../../core/ids.ts'
import { calledBy, plainExcerpt } from '../../core/label.ts'
import type { PrecheckVerdict } from '../../core/precheck.ts'
import type { Session } from '../../core/session.ts'
import { silenceReason, stripSilence } from '../../core/silence.ts'
import { grouped } from '../../core/spending.ts'
import { withTitle } from '../../core/titles.ts'
import type { ContextRead } from '../../core/turn-end.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { placeTitle } from '../service/place-title.ts'
import { newestFirst } from '../service/read-messages.ts'

/** A tool call that the host refused, with the reason. */
export interface DeniedCall {
  readonly tool: string
  readonly reason: string
}

/** The context of an answer, and how many older messages were not in it. */
export interface ContextFacts extends ContextRead {
  readonly leftOut: number
  /** The messages of a thread from before its first turn. */
  readonly thread?: ThreadReadData
}

const LONGEST_REASON = 300

/** The most events searched for a turn, so that a question about an old message has a bounded cost. */
const LOOKED_THROUGH = 5_000

/** The events of a message's turn that explain it. */
interface TurnFacts {
  /** Tool calls that were refused, oldest first. */
  readonly denied: readonly DeniedCall[]
  /** The questions to owners whether a tool may be used, with their answers, in words. */
  readonly questions?: readonly string[]
  readonly context?: ContextFacts
  /** The reason that the model gave for saying nothing. */
  readonly silence?: string
  /** The model that failed. */
  readonly model?: string
  /** The budget that it did not fit, in words. */
  readonly budget?: string
}

/** Returns the facts that explain a message's turn, if the turn is not long past. */
export async function turnFacts(
  { sessionId, turnId }: Pick<InboxRow, 'sessionId' | 'turnId'>,
  { events, sessions }: Pick<StoreReader, 'events' | 'sessions'>,
): Promise<TurnFacts> {
  const session = sessionId && turnId && (await sessions.get(sessionId))
  if (!session) return { denied: [] }
  const turn = await eventsOfTurn(events, session, turnId)
  const denied = turn.flatMap(({ type, data }) =>
    type === 'tool_result' && data.denied ? [{ tool: data.tool, reason: inWords(data.content) }] : [],
  )
  const [start] = turn
  const end = turn.findLast(({ type }) => type === 'turn_completed')
  const rest = { ...silenceOf(turn), ...questionsOf(turn), ...failureOf(end) }
  const read = end?.type === 'turn_completed' ? end.data.context : undefined
  if (read === undefined || start?.type !== 'turn_started') return { denied, ...rest }
  const before = await events.messagesBefore(session.id, start.seq)
  // The message that the turn answers stands before its start as well.
  const filled = turn.find(({ type }) => type === 'thread_read')
  const thread = filled?.type === 'thread_read' ? { thread: filled.data } : {}
  return { denied, ...rest, context: { ...read, ...thread, leftOut: Math.max(0, before - 1 - read.messages) } }
}

function failureOf(end: SessionEvent | undefined): Pick<TurnFacts, 'budget' | 'model'> {
  const { budget, model } = end?.type === 'turn_completed' ? end.data : {}
  return {
    ...(budget === undefined ? {} : { budget: hitInWords(budget) }),
    ...(model === undefined ? {} : { model }),
  }
}

/** Returns what owners were asked about the calls of a turn. An answer that came after it counts as well. */
function questionsOf(turn: readonly SessionEvent[]): Pick<TurnFacts, 'questions'> {
  const questions = turn.flatMap((event) => {
    if (event.type !== 'approval_requested') return []
    const { tool, code } = event.data
    const answer = turn.find(({ type, data }) => type === 'approval_decided' && data.code === code)
    const words =
      answer?.type === 'approval_decided' ? `${answer.data.state} by ${answer.data.by}` : 'nobody has answered'
    return [`${tool} (${code}): ${words}`]
  })
  return questions.length === 0 ? {} : { questions }
}

/** Returns the reason that a model gave for its silence, as its answer says it. */
function silenceOf(turn: readonly SessionEvent[]): Pick<TurnFacts, 'silence'> {
  const answer = turn.findLast(({ type }) => type === 'assistant_message')
  if (answer?.type !== 'assistant_message' || !stripSilence(answer.data.text).silent) return {}
  const reason = silenceReason(answer.data.text)
  return reason === undefined ? {} : { silence: plainExcerpt(reason, LONGEST_REASON) }
}

/** Returns the events of a turn, in order, as far back as is looked. */
async function eventsOfTurn(
  events: Pick<StoreReader['events'], 'since'>,
  session: Session,
  turnId: TurnId,
): Promise<readonly SessionEvent[]> {
  const found: SessionEvent[] = []
  for await (const event of newestFirst(events, session)) {
    if (event.seq <= session.lastSeq - LOOKED_THROUGH) break
    if (event.turnId !== turnId) continue
    found.push(event)
    if (event.type === 'turn_started') break
  }
  return found.toReversed()
}

/** Returns in words how much of a conversation was read: `read 12 earlier messages, 3 left out`. */
export function contextInWords({ messages, leftOut, summary, shortened, thread, tokens }: ContextFacts): string {
  const older = leftOut === 0 ? [] : [`${leftOut} left out`]
  const summed = summary ? ['a summary in the place of older ones'] : []
  const cut = shortened ? ['shortened because the model took no more'] : []
  const read = `read ${messages} earlier ${messages === 1 ? 'message' : 'messages'}`
  return [read, ...older, ...threadInWords(thread), ...summed, ...cut, `${grouped(tokens)} tokens`].join(', ')
}

function threadInWords(thread: ThreadReadData | undefined): readonly string[] {
  if (thread === undefined) return []
  const { messages, leftOut, more, failed, channel } = thread
  if (channel) return [ofChannel(messages.length)]
  if (failed !== undefined)
    return [`what was said before in the thread could not be read (${plainExcerpt(failed, 100)})`]
  return [
    `${messages.length} more of the thread from before`,
    ...(leftOut === 0 ? [] : [`${leftOut} of it not kept by the rules`]),
    ...(more ? ['the rest of it not read'] : []),
  ]
}

/** Returns a sentence about the messages of a channel that a thread of it was shown; empty where it was shown none. */
export function channelInWords({ thread }: Pick<ContextFacts, 'thread'>): string {
  const many = thread?.channel ? thread.messages.length : 0
  return many === 0 ? '' : `It was shown ${ofChannel(many)} this thread.`
}

function ofChannel(many: number): string {
  return `${many} ${many === 1 ? 'message' : 'messages'} of the channel from before`
}

/** Returns the verdict of the check before a turn: `✗ pre-check: no, they talk about lunch (anthropic/small)`. */
export function checkInWords({ answer, because, model }: PrecheckVerdict): string {
  return `${answer ? '✓' : '✗'} pre-check: ${answer ? 'yes' : 'no'}, ${plainExcerpt(because, LONGEST_REASON)} (${model})`
}

/** The parts of an explanation that stand beside the row. */
export interface RowFacts extends TurnFacts {
  /** The channel where it was said. */
  readonly channel?: ChannelId
  /** The error that its turn ended with. */
  readonly error?: ErrorCode | undefined
  /** The verdict of the check before its turn. */
  readonly precheck?: PrecheckVerdict | undefined
  /** The request of its sender, or of its chat, to be let in. */
  readonly asked?: Admission | undefined
  /** The name by which people know its place. */
  readonly title?: string
}

export async function readRowFacts(row: InboxRow, read: StoreReader): Promise<RowFacts> {
  const { decision, turnId } = row
  const turn = turnId && (await read.turns.get(turnId))
  const asks = decision.kind === 'refuse' ? decision.asks : undefined
  return {
    ...(await turnFacts(row, read)),
    channel: row.dispatch.event.address.channel,
    error: turn ? turn.error : undefined,
    precheck: turn ? turn.precheck : undefined,
    asked: asks && (await read.admissions.find(asks.key)),
    ...(await placeTitle(read, row.dispatch.event.address, row.sessionId)),
  }
}

const DECIDED: Readonly<Record<InboxRow['decision']['kind'], string>> = {
  run: 'answer it',
  context: 'remember it without an answer',
  control: 'run it as a command',
  amend: 'change what is stored of a message',
  refuse: 'refuse it',
  ignore: 'ignore it',
}

/**
 * Returns the decision trace of one message as lines for people: the message, each stage that decided, the outcome.
 * Only owners read which setting would change it, and the present title of a place: whoever wrote there may be out of
 * it by now.
 */
export function describeRow(
  { dispatch, decision, state, outcome, sessionId, turnId }: InboxRow,
  {
    settings,
    denied,
    questions = [],
    context,
    silence,
    precheck,
    budget,
    title,
  }: Omit<RowFacts, 'error' | 'asked'> & {
    readonly settings: boolean
  },
): readonly string[] {
  const { event, traceId } = dispatch
  const name = calledBy(event.sender)
  const who = name === event.sender.id ? name : `${name} (${event.sender.id})`
  const steps = decision.trace.map(({ stage, verdict, because, config }) => {
    const setting = config && settings ? `; setting ${config}` : ''
    // The words of a message that was forgotten are gone from the reasons, too.
    const why = because === '' ? 'forgotten' : because
    return `${verdict === 'pass' ? '✓' : '✗'} ${stage}: ${why}${setting}`
  })
  const where = sessionId ? [`session ${sessionId}${turnId ? `, turn ${turnId}` : ''}`] : []
  return [
    `${event.kind} from ${who} in ${withTitle(event.address, title)}`,
    ...steps,
    `decision: ${DECIDED[decision.kind]} (${decision.reason.replaceAll('_', ' ')})`,
    ...where,
    ...(precheck === undefined ? [] : [checkInWords(precheck)]),
    ...(budget === undefined || !settings ? [] : [`✗ budget: ${budget}`]),
    ...(silence === undefined ? [] : [`silence: ${silence}`]),
    ...(context === undefined ? [] : [`context: ${contextInWords(context)}`]),
    ...questions.map((question) => `asked an owner: ${question}`),
    ...denied.map(({ tool, reason }) => `✗ ${tool}: ${reason}`),
    `outcome: ${outcome ?? state}`,
    `trace ${traceId}`,
  ]
}
