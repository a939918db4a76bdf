import { parseAddress } from '../../core/address.ts'
import type { AgentProfile } from '../../core/agent-profile.ts'
import { BudgetSpent, type Charge } from '../../core/budget.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { type AgentId, type IdSource, type MediaId, runId, type TurnId, toSessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { type ModelMessage, NO_USAGE, tokensOf, type Usage } from '../../core/model.ts'
import { failureCause } from '../../core/model-remedy.ts'
import {
  ChatRefused,
  type CompletionAnswer,
  type CompletionMessage,
  type CompletionWatch,
} from '../../core/operate-chat.ts'
import type { SessionDraft, SessionIdentity } from '../../core/session.ts'
import { SILENCE, stripSilence } from '../../core/silence.ts'
import type { JournalDraft, RunAgent, TurnResult } from '../../core/turn.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { draftAt } from '../turns/session-draft.ts'
import { userData } from '../turns/user-message.ts'
import type { ReceivedMessage } from '../view/received.ts'
import { advance, BEGINNING, type RunningTurn } from '../view/running-turn-view.ts'
import { shown } from '../view/said-content.ts'
import type { Transcript } from '../view/transcript.ts'
import { readChatFiles } from './chat-files.ts'
import { GrowingAnswer } from './growing-answer.ts'
import { type ChatSpeaker, type KeptChatDeps, nothingSaid, notLetIn, wordsOf } from './kept-chat.ts'
import { messageDispatch } from './message-dispatch.ts'
import type { DaemonSessions } from './session-service.ts'

export interface UnkeptChatDeps extends Pick<KeptChatDeps, 'files' | 'whoIs'> {
  readonly clock: Clock
  readonly logger: Logger
  readonly channels: Channels
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'stopping'>
  readonly transcript: Pick<Transcript, 'aside' | 'drop'>
  readonly runAgent: RunAgent
  readonly place: DaemonSessions['place']
  /** Decides about the words as if they were posted: access, mutes and the send policy hold. */
  decide(this: void, dispatch: Dispatch): Decision
  agent(session: SessionIdentity): AgentProfile
  /** Returns what the calls for these words are charged to. */
  charge(this: void, asked: Decided): Charge | undefined
  /** Counts what no turn has cost. Never rejects. */
  spentBeside(this: void, usage: Usage): Promise<void>
  /** Deletes files that were kept for these words alone. */
  forgetFiles(this: void, ids: readonly MediaId[]): Promise<unknown>
}

export interface UnkeptChat extends ChatSpeaker {
  readonly agent: AgentId
  readonly messages: readonly CompletionMessage[]
  /** The steps that an earlier run of the same request has made; those of this one are added. */
  readonly done: DoneSteps
}

/** The steps of a chat that is not kept. */
export class DoneSteps {
  #turn: RunningTurn = { ...BEGINNING, id: 'unkept' as TurnId, received: [], notes: [] }

  add(event: JournalDraft): void {
    if (event.type !== 'approval_requested') this.#turn = advance(this.#turn, event)
  }

  /** Returns what a run continues with. Its tokens are counted by the run that has spent them. */
  get made(): Pick<RunningTurn, 'steps' | 'open' | 'spent'> {
    const { steps, open, spent } = this.#turn
    return { steps, open, spent: { steps: spent.steps, usage: NO_USAGE } }
  }
}

/** No name of a session, so nobody's log is read for it; rules and budgets may name it. */
const PLACE = parseAddress('api:direct:unkept')
/** The sender where an owner asks. */
const OPERATOR = 'operator'
/** A provider asks for somebody's words first. */
const BEGUN = '[the assistant began this conversation]'

/**
 * Answers a conversation that its client keeps. No row is written but what the answer has cost: no session, no event,
 * no memory; a crash leaves nothing to repair. The agent has those of its tools that read inside of the conversation.
 * The call of the model ends with its client.
 */
export async function answerUnkept(
  deps: UnkeptChatDeps,
  chat: UnkeptChat,
  watch: CompletionWatch,
): Promise<CompletionAnswer> {
  const { files, clock, logger, transcript, running, runAgent, ids, spentBeside, forgetFiles } = deps
  const draft = draftOf(deps, chat)
  const traceId = ids.trace()
  const { dispatch, decision } = decided(deps, chat, { draft, traceId })
  const from = { person: personOf(chat), conversation: 'api:direct:unkept', signal: watch.left }
  const growing = new GrowingAnswer(clock, watch.grew)
  const signal = AbortSignal.any([watch.left, running.stopping])
  const read = await readChatFiles(
    files,
    chat.messages.map((message) => message.files),
    from,
  )
  try {
    const received = await receivedOf(deps, chat, { dispatch, decision, draft, read })
    const steps = runAgent(
      {
        ...(await messagesOf(deps, draft, { said: received, done: chat.done })),
        ...{ turnId: ids.turn(), sessionId: draft.id, traceId, unkept: true },
        ...{ agent: deps.agent(draft), charge: deps.charge({ dispatch, decision }), chatType: 'direct' },
        ...{ open: chat.done.made.open, spent: chat.done.made.spent },
        show: growing.push,
        steer: async () => [],
      },
      signal,
    )
    let step = await steps.next()
    while (!step.done) {
      chat.done.add(step.value)
      step = await steps.next()
    }
    const { value } = step
    await spentBeside(value.usage)
    logger.info('A chat that is not kept has ended', { traceId, outcome: value.kind, tokens: tokensOf(value.usage) })
    const text = answerIn(value, traceId)
    growing.end(text)
    return { traceId, text, usage: value.usage, cut: value.kind === 'final' && value.cut === true }
  } finally {
    growing.close()
    transcript.drop(draft.id)
    await forgetFiles(read.flat().flatMap(({ media }) => media?.media ?? []))
  }
}

function draftOf({ place, ids, channels }: UnkeptChatDeps, { agent }: UnkeptChat): SessionDraft & SessionIdentity {
  const draft = draftAt(place(PLACE, agent), { ids, channels })
  return { ...draft, id: toSessionId(`unkept:${ids.turn()}`), createdAt: 0 }
}

function personOf({ sender = OPERATOR }: Pick<ChatSpeaker, 'sender'>): string {
  return sender
}

interface Decided {
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: 'run' }>
}

/** Returns the newest words as a dispatch of the caller's, once they may be said. */
function decided(
  { channels, whoIs, decide, clock }: UnkeptChatDeps,
  { caller, sender: id, messages }: UnkeptChat,
  { draft, traceId }: { readonly draft: SessionDraft; readonly traceId: ReturnType<IdSource['trace']> },
): Decided {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const news = messages.slice(last + 1)
  if (wordsOf(news) === '' && news.every(({ files }) => files.length === 0)) throw nothingSaid()
  const facts = messageDispatch(channels, {
    ...{
      to: draft,
      by: id === undefined ? { role: 'owner' } : whoIs(id),
      text: wordsOf(messages.slice(last + 1)),
    },
    ...{ announce: false, runId: runId('chat', traceId), traceId, receivedAt: clock.now() },
  })
  const sender = { id: id === undefined ? OPERATOR : id.slice(id.indexOf(':') + 1), kind: 'user' } as const
  const { posted } = facts
  const client = caller.kind === 'token' && id !== undefined ? { participant: id, client: caller.namespace } : {}
  const dispatch: Dispatch = {
    ...facts,
    ...(posted ? { posted: { ...posted, ...client } } : {}),
    origin: id === undefined ? OPERATOR : 'api',
    event: withFiles({ ...facts.event, sender }, news),
  }
  const decision = decide(dispatch)
  if (decision.kind === 'run') return { dispatch, decision }
  if (decision.kind === 'refuse' && decision.reason !== 'send_policy')
    throw notLetIn(channels, { caller, sender: id }, traceId)
  throw new ChatRefused('forbidden', `Nothing may be said there: a mute or the send policy forbids it. (${traceId})`)
}

/** Words are not missing where files came. They are read once the words may be said. */
function withFiles(event: Dispatch['event'], news: readonly CompletionMessage[]): Dispatch['event'] {
  const attachments = news.flatMap(({ files }) => files.map((_, index) => ({ ref: `unread:${index}` })))
  return event.kind === 'message' ? { ...event, attachments } : event
}

type Said =
  | { readonly role: 'user'; readonly received: ReceivedMessage }
  | { readonly role: 'assistant'; readonly text: string }

/** Returns the conversation as an own log would have it: redacted, and as the hooks of the operator leave it. */
async function receivedOf(
  { files: { redact, beforeSave } }: UnkeptChatDeps,
  { sender, messages }: UnkeptChat,
  {
    dispatch,
    decision,
    read,
  }: Decided & { readonly draft: SessionDraft; readonly read: Awaited<ReturnType<typeof readChatFiles>> },
): Promise<readonly Said[]> {
  const person = personOf({ sender })
  const said: Said[] = []
  for (const [index, { role, text: raw }] of messages.entries()) {
    const redacted = redact(raw)
    if (role === 'assistant') {
      said.push({ role, text: redacted })
      continue
    }
    const asked = { on: 'before_save', conversation: 'api:direct:unkept', sender: { id: person }, edit: false } as const
    const text = redacted === '' ? '' : ((await beforeSave?.({ ...asked, text: redacted })) ?? redacted)
    const attachments = read[index] ?? []
    if (text.trim() === '' && attachments.length === 0) continue
    const event = { ...dispatch.event, kind: 'message', text, attachments } as Extract<
      Dispatch['event'],
      { kind: 'message' }
    >
    said.push({ role, received: userData({ ...dispatch, event }, decision, { triggers: true }) })
  }
  return said
}

/** Returns the messages of the request: roles alternate, and a person's words come first and last. */
async function messagesOf(
  { transcript }: UnkeptChatDeps,
  draft: SessionIdentity,
  { said, done }: Pick<UnkeptChat, 'done'> & { readonly said: readonly Said[] },
) {
  const last = said.findLastIndex(({ role }) => role === 'assistant')
  const earlier: ModelMessage[] = []
  let words: ReceivedMessage[] = []
  for (const one of said.slice(0, last + 1)) {
    if (one.role === 'user') {
      words.push(one.received)
      continue
    }
    const before = earlier.at(-1)
    const text = one.text.trim() === '' ? SILENCE : one.text
    if (words.length === 0 && before?.role === 'assistant') {
      earlier[earlier.length - 1] = { ...before, text: `${before.text}\n\n${text}` }
      continue
    }
    const content = words.length === 0 ? [{ type: 'text', text: BEGUN } as const] : shown({ received: words }, 'direct')
    earlier.push({ role: 'user', content }, { role: 'assistant', text, calls: [] })
    words = []
  }
  const news = said.slice(last + 1).flatMap((one) => (one.role === 'user' ? [one.received] : []))
  const [first, ...further] = news
  if (first === undefined) throw nothingSaid()
  const question = {
    ...first,
    text: news
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join('\n\n'),
    attachments: [first, ...further].flatMap(({ attachments = [] }) => attachments),
  }
  const { messages } = await transcript.aside(draft, question)
  return {
    messages: [...earlier, ...messages, ...done.made.steps],
    earlier: { messages: earlier.length, summary: false, said: earlier.length },
  }
}

/** Returns the answer without markers. Throws what a client has to know of a failure. */
function answerIn(result: TurnResult, traceId: string): string {
  switch (result.kind) {
    case 'final':
      return stripSilence(result.text).text.trim()
    case 'failed':
      if (result.cause instanceof BudgetSpent) throw result.cause
      throw new ChatRefused(result.code, `It was not answered: ${failureCause(result.code)}. (${traceId})`, {
        cause: result.cause,
      })
    case 'aborted':
      throw new ParleyError('unavailable', 'It was stopped before there was an answer.')
  }
}
