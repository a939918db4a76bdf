import { OPEN_MS, WAITS_MS } from '../core/approval.ts'
import { askedTooMuch, type QuestionAsker } from '../core/asked-too-much.ts'
import type { CloseCards } from '../core/card.ts'
import { type CardKeeper, createCardKeeper } from '../core/card-keeper.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { type Deferred, deferred } from '../core/deferred.ts'
import type { Dispatch, Identity } from '../core/dispatch.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import { refuseForgotten } from '../core/forgetting.ts'
import type { ChannelId, IdSource, SessionId, TraceId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type {
  Answerer,
  AsksPeople,
  NewQuestion,
  Question,
  QuestionDesk,
  QuestionDraft,
  QuestionOutcome,
} from '../core/question.ts'
import type { Session } from '../core/session.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { type AskedPlace, placeToAsk } from './ask-where.ts'
import { closingLine, lateAnswer, nameOf, questionButtons, questionCard } from './question-card.ts'
import { createQuestionDesk, type QuestionDeskDeps } from './question-desk.ts'
import { openUntil, overBy } from './still-open.ts'

export interface QuestionDeps extends Pick<QuestionDeskDeps, 'isSame' | 'roomOf'> {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'code' | 'aside' | 'trace'>
  readonly logger: Logger
  readonly closeCards: CloseCards
  /** Returns the mark before a command that is typed on a channel. */
  commandMark(this: void, channel: ChannelId): string
  /** Plans a message inside the transaction and returns what sends it after the commit; throws `forbidden`. */
  plan(this: void, tx: StoreWriter, message: OutboundMessage): Promise<() => void>
  accept(this: void, dispatch: Dispatch): Promise<void>
  /** Returns who wrote the message of a row, where that is one person. */
  authorOf(this: void, row: InboxRow): AuthorId | undefined
  whoIs(this: void, author: AuthorId): Identity
  /** Returns everybody whose messages a turn answers. */
  askersOf(this: void, turn: TurnId): Promise<readonly QuestionAsker[]>
}

/** Asks people of conversations: the tool's side, the desk at which they answer, and what the daemon calls. */
export interface Questions extends AsksPeople, QuestionDesk, Pick<CardKeeper, 'closeIfOver'> {
  /** Returns true while a turn of the session waits for an answer (S7). */
  waits(this: void, session: SessionId): boolean
  /** Called once a message waits behind the running turn of a session: ends the wait for an answer. */
  spoken(this: void, session: SessionId): void
  /** Returns true if a turn of this process has asked something. */
  hasAsked(turn: TurnId): boolean
  /** Called once the end of such a turn is on record. */
  turnEnded(turn: TurnId): void
  /** Hands in answers that came late and were not handed in yet, whatever prevented it before. */
  handIn(): Promise<void>
  /** Hands in answers that came late before a crash, and closes the cards of what is over. */
  recover(): Promise<void>
}

const DAY_MS = 86_400_000
/** A long log is emptied for seconds, and the operator's hooks are asked each time. */
const AGAIN_MS = 250
const SUBJECT = 'question:'

interface Waiting {
  readonly session: SessionId
  readonly server: boolean
  readonly answer: Deferred
  spoken: boolean
}

export function createQuestions(deps: QuestionDeps): Questions {
  const cards = cardsOf(deps)
  const service = new QuestionService(deps, cards)
  const desk = createQuestionDesk({ ...deps, cards, answered: (question) => service.answered(question) })
  return Object.assign(service, desk, { closeIfOver: cards.closeIfOver })
}

class QuestionService implements Omit<Questions, keyof QuestionDesk | 'closeIfOver'> {
  readonly #deps: QuestionDeps
  readonly #cards: CardKeeper
  readonly #waiting = new Map<string, Waiting>()

  constructor(deps: QuestionDeps, cards: CardKeeper) {
    this.#deps = deps
    this.#cards = cards
  }

  readonly waits = (session: SessionId): boolean => [...this.#waiting.values()].some((one) => one.session === session)

  readonly spoken = (session: SessionId): void => {
    for (const one of this.#waiting.values()) {
      if (one.session !== session || one.server) continue
      one.spoken = true
      one.answer.resolve()
    }
  }

  async ask(
    draft: QuestionDraft,
    turn: TurnRef & { readonly callId: string },
    signal: AbortSignal,
  ): Promise<QuestionOutcome> {
    const asked = await this.#deps.store.read.questions.ofCall(turn.id, turn.callId, draft.part)
    const question = asked ?? (await this.#put(draft, turn))
    this.#cards.watch({ code: question.code, turnId: turn.id, openUntil: openUntil(question) })
    const spoken = await this.#wait(question, signal)
    if (signal.aborted) {
      // The next start continues a turn, but never the call of a server: nobody would read the answer.
      if (draft.server !== undefined) await this.#end(question.code)
      throw new ParleyError('aborted', 'The question is not wanted any more.')
    }
    const now = await this.#deps.store.write((tx) => tx.questions.take(question.code))
    failpoint('CP23-question-told')
    void this.#cards.closeIfOver(question.code)
    if (now?.state === 'told' && now.by && now.answer !== undefined) {
      const choice = now.choice === undefined ? {} : { choice: now.choice }
      return { kind: 'answered', text: now.answer, name: nameOf(now.by), ...choice }
    }
    if (now === undefined || now.state === 'ended') return { kind: 'open', because: 'ended' }
    return { kind: 'open', because: spoken ? 'spoken' : 'time' }
  }

  hasAsked(turn: TurnId): boolean {
    return this.#cards.asked(turn)
  }

  turnEnded(turn: TurnId): void {
    void this.#cards.ended(turn)
  }

  /** Called once an answer is on record: whoever waits for it continues, and one that is late is handed in. */
  async answered({ code }: Pick<Question, 'code'>): Promise<void> {
    this.#waiting.get(code)?.answer.resolve()
    const now = await this.#deps.store.read.questions.get(code)
    if (now?.state === 'answered' && now.late) await this.#follow(now)
  }

  async handIn(): Promise<void> {
    const { store, clock } = this.#deps
    for (const question of await store.read.questions.owed(clock.now() - DAY_MS)) await this.#follow(question)
  }

  async recover(): Promise<void> {
    const { store, clock } = this.#deps
    // The call of a tool server that asked has ended with its process.
    const gone = (await store.read.questions.open(clock.now() - DAY_MS)).filter(({ server }) => server !== undefined)
    await store.write(async (tx) => {
      for (const { code } of gone) await tx.questions.end(code)
    })
    await this.handIn()
    await this.#cards.recover()
  }

  async #put(draft: QuestionDraft, turn: TurnRef & { readonly callId: string }): Promise<Question> {
    const { store, clock, logger, plan, askersOf } = this.#deps
    const place = await placeToAsk(this.#deps, draft, turn)
    const asked = await store.read.questions.open(clock.now() - OPEN_MS)
    const here = asked.filter(({ sessionId }) => sessionId === turn.sessionId)
    // A question ends with a turn that was stopped, though its row still says that it is open.
    const over = await Promise.all(here.map((one) => overBy(store, one, clock.now())))
    const open = here.filter((_, index) => over[index] === undefined)
    const most = askedTooMuch(await askersOf(turn.id), await Promise.all(open.map(({ turnId }) => askersOf(turnId))))
    if (most !== undefined)
      throw new ParleyError('forbidden', `${most} questions are open here already; wait for their answers.`)
    const code = await this.#freshCode()
    const { everybody: _, ...given } = draft
    const { session, traceId, reply, to } = place
    const at = {
      code,
      turnId: turn.id,
      callId: turn.callId,
      traceId,
      sessionId: session.id,
      reply,
      askedAt: clock.now(),
    }
    const question: NewQuestion = { ...given, ...at, ...(to === undefined ? {} : { to: to.author }) }
    logger.info('People of a conversation are asked something', { traceId, sessionId: session.id, code })
    const release = await store.write(async (tx) => {
      await refuseForgotten(tx, question.turnId)
      const message = messageOf(question, place, this.#deps)
      await tx.questions.add(question)
      await tx.cards.add(`${SUBJECT}${code}`, message.source)
      return plan(tx, message)
    })
    failpoint('CP21-question-asked')
    release()
    return { ...question, state: 'asked', late: false }
  }

  /** Returns true if somebody has said something else meanwhile. */
  async #wait({ code, sessionId, askedAt, server }: Question, signal: AbortSignal): Promise<boolean> {
    const { store, clock } = this.#deps
    const waiting: Waiting = { session: sessionId, server: server !== undefined, answer: deferred(), spoken: false }
    // An answer that comes from here on ends the wait; one that came before is found by the read below.
    this.#waiting.set(code, waiting)
    const now = await store.read.questions.get(code)
    const ms = Math.min(WAITS_MS, askedAt + WAITS_MS - clock.now())
    const over = new AbortController()
    if (now?.state === 'asked' && !now.late && ms > 0)
      await Promise.race([waiting.answer.promise, sleep(clock, ms, AbortSignal.any([signal, over.signal]))])
    over.abort()
    this.#waiting.delete(code)
    return waiting.spoken
  }

  async #end(code: string): Promise<void> {
    await this.#deps.store.write((tx) => tx.questions.end(code))
    void this.#cards.closeIfOver(code)
  }

  async #freshCode(): Promise<string> {
    const code = this.#deps.ids.code()
    return (await this.#deps.store.read.questions.get(code)) === undefined ? code : this.#freshCode()
  }

  /** Something of the conversation may be forgotten while the message waits for a hook: it is made again then. */
  async #follow({ code, sessionId }: Question): Promise<void> {
    const { store, accept, ids, clock, whoIs } = this.#deps
    for (;;) {
      const madeOf = { sessions: [sessionId], since: await store.read.forgetting.removals() }
      const question = await store.read.questions.get(code)
      const session = await store.read.sessions.get(sessionId)
      if (session === undefined || session.inactiveAt !== undefined || question?.state !== 'answered') return
      const { by } = question
      if (by === undefined) return
      const how = { traceId: ids.trace(), at: clock.now(), identity: whoIs(by.author) }
      try {
        return await accept({ ...followUp({ ...question, by }, session, how), madeOf })
      } catch (err) {
        if (errorCode(err) !== 'conflict') throw err
        await sleep(clock, AGAIN_MS)
      }
    }
  }
}

function messageOf(
  question: NewQuestion,
  { session, to }: AskedPlace,
  { ids, commandMark }: Pick<QuestionDeps, 'ids' | 'commandMark'>,
): OutboundMessage {
  const { turnId, traceId, reply } = question
  const { address, replyTo, reader } = reply
  // The words of a model stand in it, which the exit leaves as they are: Parley's own command is written as typed there.
  const text = questionCard(question, { name: to?.name, mark: commandMark(address.channel) })
  return {
    ...{ source: ids.aside(turnId), session, traceId, address, class: 'reply', text },
    buttons: questionButtons(question),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(reader === undefined ? {} : { reader }),
  }
}

function cardsOf({ store, clock, closeCards }: QuestionDeps): CardKeeper {
  return createCardKeeper({
    ...{ clock, closeCards, prefix: SUBJECT },
    subjects: () => store.read.cards.subjects(),
    async look(code) {
      const question = await store.read.questions.get(code)
      if (question === undefined) return undefined
      const over = await overBy(store, question, clock.now())
      if (over !== undefined) return { line: closingLine(question, over) }
      return { open: { code, turnId: question.turnId, openUntil: openUntil(question) } }
    },
  })
}

/**
 * Returns an answer that came after its turn had continued, as a message of whoever gave it: it has their authority and
 * makes them a participant. Its event key is that of the question, so that it is accepted once. Whoever presses a
 * button counts as the author of its words, but not as somebody who has written a web address that stands in them.
 */
function followUp(
  question: Question & { readonly by: Answerer },
  { id, agentId, scope, scopeKey, displayKey, kind, chatType }: Session,
  { traceId, at, identity }: { readonly traceId: TraceId; readonly at: number; readonly identity: Identity },
): Dispatch {
  const { code, reply, by } = question
  const name = `question:${code}`
  return {
    origin: 'tool',
    traceId,
    receivedAt: at,
    reply,
    event: {
      ...{ kind: 'message', eventKey: name, messageId: name, address: reply.address, sentAt: at },
      ...{ sender: by.sender, text: lateAnswer(question) },
      ...{ mentioned: true, mentionsOthers: false, attachments: [] },
    },
    posted: {
      ...{ session: id, identity, participant: by.author, chosen: true },
      route: { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' },
    },
  }
}
