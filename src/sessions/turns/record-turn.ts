import { conversationOf } from '../../core/address.ts'
import { approvedCode } from '../../core/approval.ts'
import type { BudgetHit } from '../../core/budget.ts'
import { type ErrorCode, ParleyError, unlessUnreadable } from '../../core/errors.ts'
import type { EventDraft, SessionEvent, TakenMessages } from '../../core/event.ts'
import type { IdSource, InboxId, SessionId } from '../../core/ids.ts'
import { type FilesReadData, type InboundMessage, isShown } from '../../core/message.ts'
import { addUsage, NO_MODEL, type Usage } from '../../core/model.ts'
import { NOBODY, senderKey } from '../../core/platform-id.ts'
import type { PrecheckVerdict } from '../../core/precheck.ts'
import { isScheduled, type SessionIdentity } from '../../core/session.ts'
import type { ContextRead, InboxOutcome, TurnOutcome } from '../../core/turn-end.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { AgentAdoption } from '../../store/session-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { dropParted, type Parting } from './parted.ts'
import { replyTargetOf } from './parted-chat.ts'
import { askedIn, countedFor, isPublic, type StartedTurn } from './started-turn.ts'
import type { TurnQueue } from './turn-queue.ts'

/** Appended events, of which the first has the number `seq`. */
export interface Appended {
  readonly seq: number
  readonly at: number
  readonly events: readonly EventToAppend[]
}

async function append(
  tx: StoreWriter,
  { session }: StartedTurn,
  at: number,
  events: readonly EventToAppend[],
): Promise<Appended> {
  return { seq: await tx.events.append(session.id, at, events), at, events }
}

/**
 * Claims a turn: its row and `turn_started`, after the event of the one message it answers at once, and the change of
 * its agent, if there is one.
 */
export async function recordStart(
  tx: StoreWriter,
  turn: StartedTurn,
  answers: { readonly message: EventToAppend } | { readonly waiting: TakenMessages },
  adopts: Adopts,
): Promise<Appended> {
  const { id, session, traceId, reply, startedAt } = turn
  await tx.turns.start({ id, sessionId: session.id, traceId, reply, startedAt })
  const [before, data] = 'message' in answers ? [[answers.message], { traceId }] : [[], { traceId, ...answers.waiting }]
  const changed = await adoptAgent(tx, turn, adopts)
  return append(tx, turn, startedAt, [...before, { type: 'turn_started', turnId: id, data }, ...changed])
}

/**
 * Records the agent of the turn, where it is another than that of the session's last one (C1), and before the model
 * reads them that its tools are described in nobody's words.
 */
async function adoptAgent(tx: StoreWriter, { id, session }: StartedTurn, adopts: Adopts): Promise<EventToAppend[]> {
  const { foreign, version, profile, changed = [] } = adopts(session) ?? {}
  if (foreign) await tx.authors.add(session.id, NOBODY)
  if (version === undefined) return []
  await tx.sessions.adoptAgent(session.id, profile === undefined ? { version } : { version, profile })
  return changed.length === 0 ? [] : [{ type: 'agent_updated', turnId: id, data: { changed } }]
}

/** Returns what a session records of its agent at the start of a turn; undefined where it has that already. */
export type Adopts = (session: SessionIdentity) => AdoptedAgent | undefined

/** The agent of a session's turn, as far as it is not on record yet. */
export interface AdoptedAgent extends Partial<AgentAdoption> {
  /** The fields in which it differs from that of the last turn. */
  readonly changed?: readonly string[]
  /** True where the model is shown tools that are described in nobody's words. */
  readonly foreign?: boolean
}

export interface ClaimDeps {
  readonly ids: IdSource
  readonly queue: TurnQueue
  readonly parting: Parting
  readonly adopts: Adopts
  /** The places of strangers' turns. If absent, they take one when they resume. */
  readonly publicTurns?: { enter(turn: StartedTurn, tx: Pick<StoreWriter, 'afterUndo'>): void }
}

/**
 * Claims one turn for the waiting messages of a session that can be answered together; returns undefined if none waits,
 * and the session is free. It answers where the newest of them came from.
 */
export async function claimWaiting(
  tx: StoreWriter,
  session: SessionIdentity,
  at: number,
  { ids, queue, parting, adopts, publicTurns }: ClaimDeps,
): Promise<StartedTurn | undefined> {
  const waiting = await stillWaiting(tx, session, { at, queue, parting })
  const rows = answeredNext(waiting)
  const newest = rows.at(-1)
  if (!newest) {
    queue.free(session.id, tx)
    return undefined
  }
  queue.taken(session.id, rows.length, tx)
  // A waiting message may have come from another chat of the session, or after a rename.
  const current = (await readSession(tx, session.id)) ?? session
  const { traceId } = newest.dispatch
  const reply = replyTargetOf(newest, current, parting.channels)
  const asked = { ...countedFor(rows), ...askedIn(rows) }
  const turn: StartedTurn = { id: ids.turn(), session: current, traceId, reply, startedAt: at, ...asked }
  await tx.inbox.claim(idsOf(rows), turn.id)
  await recordStart(tx, turn, { waiting: named(rows) }, adopts)
  // A known person who waits behind it may be stored in the same commit, and hurries it then.
  if (turn.publicFor !== undefined) publicTurns?.enter(turn, tx)
  return turn
}

/** An unreadable row keeps nobody from being answered: the turn that ends in this commit would never end. */
async function readSession(tx: StoreWriter, id: SessionId): Promise<SessionIdentity | undefined> {
  return tx.sessions.get(id).catch(unlessUnreadable)
}

/** Returns the messages that wait in a session, without those of people who have left it meanwhile. */
async function stillWaiting(
  tx: StoreWriter,
  session: SessionIdentity,
  { at, queue, parting }: Pick<ClaimDeps, 'queue' | 'parting'> & { readonly at: number },
): Promise<readonly InboxRow[]> {
  const waiting = await tx.inbox.waiting(session.id, CLAIM_LIMIT)
  const left = await dropParted(tx, session, { waiting, at }, parting)
  if (left.length < waiting.length) queue.taken(session.id, waiting.length - left.length, tx)
  return left
}

/** The most messages one turn answers; the others wait for the next. */
const CLAIM_LIMIT = 100

/** The most messages of strangers that wait in one session: among so many the claim still finds somebody known. */
export const MOST_OF_STRANGERS = CLAIM_LIMIT - 1

/**
 * Returns the messages that the next turn answers: those with the first message of a known person, else with the one
 * that waits longest. Messages of one chat are answered together, up to a message of another chat, whose answer belongs
 * there (K46). A message from elsewhere has a turn to itself, since its sender reads the answer to it and to nothing
 * else (T21).
 */
function answeredNext(waiting: readonly InboxRow[]): readonly InboxRow[] {
  const known = waiting.findIndex((row) => !isPublic(row))
  const at = known === -1 ? 0 : known
  const first = waiting[at]
  if (first === undefined || isFromElsewhere(first)) return first === undefined ? [] : [first]
  const isApart = (row: InboxRow): boolean => isFromElsewhere(row) || placeOf(row.dispatch) !== placeOf(first.dispatch)
  const begin = waiting.slice(0, at).findLastIndex(isApart) + 1
  const end = waiting.findIndex((row, index) => index > at && isApart(row))
  return waiting.slice(begin, end === -1 ? undefined : end)
}

/** Returns the names that the log has for the messages of a turn. */
function named(rows: readonly InboxRow[]): TakenMessages & { readonly messages: number } {
  return { messages: rows.length, rows: idsOf(rows) }
}

/** Returns the place where the answer is read. */
function placeOf({ reply }: Pick<StartedTurn, 'reply'>): string {
  return conversationOf(reply.address)
}

function isFromElsewhere({ dispatch }: InboxRow): boolean {
  return dispatch.reply.elsewhere !== undefined
}

/** Binds the waiting messages to the running turn and returns their rows (busy mode `steer`). */
export async function steerWaiting(
  tx: StoreWriter,
  turn: StartedTurn,
  at: number,
  { queue, parting }: Pick<ClaimDeps, 'queue' | 'parting'>,
): Promise<readonly InboxRow[]> {
  if (turn.reply.elsewhere !== undefined) return []
  const waiting = await stillWaiting(tx, turn.session, { at, queue, parting })
  const rows = answeredNext(waiting)
  const [first] = rows
  if (first === undefined || isFromElsewhere(first) || placeOf(first.dispatch) !== placeOf(turn)) return []
  return bind(tx, turn, { rows, at, queue })
}

/** Binds the further pieces of what began the turn to it, as if they had come with the first. */
export async function joinPieces(
  tx: StoreWriter,
  turn: StartedTurn,
  at: number,
  { queue, parting }: Pick<ClaimDeps, 'queue' | 'parting'>,
): Promise<readonly InboxRow[]> {
  const waiting = await stillWaiting(tx, turn.session, { at, queue, parting })
  const rows = furtherPieces(turn, waiting, await tx.inbox.ofTurn(turn.id))
  return rows.length === 0 ? rows : bind(tx, turn, { rows, at, queue })
}

async function bind(
  tx: StoreWriter,
  { id: turnId, session }: StartedTurn,
  { rows, at, queue }: { readonly rows: readonly InboxRow[]; readonly at: number; readonly queue: TurnQueue },
): Promise<readonly InboxRow[]> {
  queue.taken(session.id, rows.length, tx)
  await tx.inbox.claim(idsOf(rows), turnId)
  await tx.events.append(session.id, at, [{ type: 'turn_steered', turnId, data: named(rows) }])
  return rows
}

/** Commits one step of a running turn before the next begins, with the authors of what a tool has read elsewhere. */
export async function recordStep(tx: StoreWriter, turn: StartedTurn, at: number, event: EventDraft): Promise<void> {
  if (event.type === 'tool_call') await useApproval(tx, turn, event.data.callId)
  if (event.type === 'tool_result') await tx.approvals.leave(turn.id, event.data.callId)
  const shown = event.type === 'tool_result' ? (event.data.shows ?? []) : []
  for (const session of shown) await tx.authors.copy(session, turn.session.id)
  const authors = event.type === 'tool_result' ? (event.data.authors ?? []) : []
  for (const author of authors) await tx.authors.add(turn.session.id, author)
  if (event.type === 'tool_result' && event.data.foreign) await tx.authors.add(turn.session.id, NOBODY)
  await tx.events.append(turn.session.id, at, [{ ...event, turnId: turn.id }])
}

/**
 * Commits what became of the files of a turn's messages. What a file says is nobody's words, whoever sent it: the
 * session has an author without any reach from then on. `elsewhere`: the log that has the messages, where the turn is
 * shown them by reference.
 */
export async function recordFiles(
  tx: StoreWriter,
  { session, id: turnId }: StartedTurn,
  at: number,
  { files, elsewhere }: FilesReadData & { readonly elsewhere?: SessionId },
): Promise<void> {
  if (files.length === 0) return
  if (files.some(isShown)) await tx.authors.add(session.id, NOBODY)
  const event = { type: 'files_read', data: { files } } as const
  await tx.events.append(elsewhere ?? session.id, at, [elsewhere === undefined ? { ...event, turnId } : event])
}

/**
 * An approval is spent in the commit of the intent: it is good for one call. Throws `forbidden` for one that is spent.
 */
async function useApproval(tx: StoreWriter, turn: StartedTurn, callId: string): Promise<void> {
  const code = approvedCode(callId)
  const approval = code === undefined ? await tx.approvals.ofCall(turn.id, callId) : await tx.approvals.get(code)
  if (approval === undefined || approval.usedBy === turn.id) return
  if (!(await tx.approvals.use(approval.code, turn.id)))
    throw new ParleyError('forbidden', `The approval of ${approval.tool} is spent.`)
}

export interface TurnEnding {
  readonly kind: 'completed' | 'failed' | 'cancelled' | 'quarantined'
  readonly outcome: TurnOutcome
  readonly inbox: InboxOutcome
  readonly usage: Usage
  readonly steps: number
  /** The raw answer and the model that gave it; absent if there is none. */
  readonly answer?: { readonly text: string; readonly model: string }
  readonly error?: ErrorCode
  /** The model that failed, as in `TurnEndData`. */
  readonly model?: string
  /** The answer lacks its end, as in `TurnEndData`. */
  readonly cut?: true
  /** The shown part of an answer that broke off, as in `TurnEndData`. */
  readonly partial?: string
  readonly context?: ContextRead
  /** The verdict of the check before it. */
  readonly precheck?: PrecheckVerdict
  /** The budget that a call did not fit. */
  readonly budget?: BudgetHit
}

/**
 * Ends a turn and every message bound to it, fenced by epoch. A turn has one end event, and another one where it failed
 * and was resumed (C5).
 */
export async function recordEnd(tx: StoreWriter, turn: StartedTurn, at: number, given: TurnEnding): Promise<Appended> {
  const ending = await withStepsOnRecord(tx, turn, given)
  const { usage, steps, error, model, answer, cut, partial, context, precheck, budget } = ending
  const failure = error === undefined ? {} : { error }
  const unasked = precheck?.answer === false || saidToNoModel(turn, ending) ? { unasked: true as const } : {}
  const checked = precheck === undefined ? {} : { precheck }
  const rest = {
    ...(model === undefined ? {} : { model }),
    ...(cut ? { cut } : {}),
    ...(partial === undefined ? {} : { partial }),
    ...(context === undefined ? {} : { context }),
    ...(budget === undefined ? {} : { budget }),
    ...unasked,
  }
  const events: EventToAppend[] = []
  const unseen = turn.reply.elsewhere === 'only' ? ({ unseen: true } as const) : {}
  if (answer) events.push({ type: 'assistant_message', turnId: turn.id, data: { ...answer, usage, ...unseen } })
  events.push(
    ending.kind === 'cancelled'
      ? { type: 'turn_cancelled', turnId: turn.id, data: { reason: 'stopped' } }
      : {
          type: 'turn_completed',
          turnId: turn.id,
          data: { outcome: ending.outcome, usage, steps, ...failure, ...rest },
        },
  )
  await tx.turns.finish(turn.id, { state: ending.kind, outcome: ending.inbox, at, usage, ...failure, ...checked })
  return append(tx, turn, at, events)
}

/** A program that asked has the failure, and asks again; what people said in a chat is there for the first answer. */
function saidToNoModel({ reply, session }: StartedTurn, { model }: TurnEnding): boolean {
  return model === NO_MODEL && reply.elsewhere === undefined && !isScheduled(session)
}

function idsOf(rows: readonly InboxRow[]): readonly InboxId[] {
  return rows.map((row) => row.id)
}

/** By the stamps of the platform, between two pieces of a pasted text. */
const LONGEST_GAP_MS = 2_000

/**
 * Returns those of the waiting messages that are pieces of what began the turn, with its messages so far as `begun`.
 * Pieces are marked by whether others came before them, which a crash forgets: after one, the rest of a pasted text is
 * known by its stamp.
 */
function furtherPieces(
  { asked, resumed }: Pick<StartedTurn, 'asked' | 'resumed'>,
  waiting: readonly InboxRow[],
  begun: readonly InboxRow[],
): readonly InboxRow[] {
  const of = asked?.piece?.of
  let last = begun.map(messageIn).findLast((event) => event?.piece?.of === of)
  return waiting.filter((row) => {
    const event = messageIn(row)
    if (event === undefined) return false
    const further = event.piece?.of === of || (resumed && last !== undefined && continues(last, event))
    if (further) last = event
    return further
  })
}

function messageIn({ dispatch: { event } }: InboxRow): InboundMessage | undefined {
  return event.kind === 'message' ? event : undefined
}

function continues(before: InboundMessage, event: InboundMessage): boolean {
  const gap = event.sentAt - before.sentAt
  return (
    before.piece?.more === true &&
    before.attachments.length === 0 &&
    event.attachments.length === 0 &&
    writerOf(event) === writerOf(before) &&
    gap >= 0 &&
    gap <= LONGEST_GAP_MS
  )
}

/** Returns the person with the place in which the message was written. */
function writerOf({ address, sender }: InboundMessage): string {
  return `${conversationOf(address)} ${senderKey(address.channel, sender)}`
}

interface Ended {
  readonly kind: string
  readonly usage: Usage
  readonly steps: number
}

/**
 * Returns the ending of a turn with the steps on record, where it knows of none: whatever else than its agent ends a
 * turn, such as a further crash, its steps are paid for. Those of a turn that failed before are in its first end.
 */
async function withStepsOnRecord<Ending extends Ended>(
  tx: Pick<StoreWriter, 'events'>,
  turn: Pick<StartedTurn, 'id' | 'session'>,
  ending: Ending,
): Promise<Ending> {
  if (ending.kind === 'completed' || ending.steps > 0) return ending
  let { usage, steps } = ending
  for await (const event of eventsBack(tx, turn)) {
    if (event.turnId !== turn.id) continue
    if (event.type === 'turn_completed') ({ usage, steps } = ending)
    if (event.type !== 'assistant_step') continue
    usage = addUsage(usage, event.data.usage)
    steps++
  }
  return { ...ending, usage, steps }
}

const PAGE = 200
const STARTS: ReadonlySet<SessionEvent['type']> = new Set(['turn_started', 'turn_completed'])

/** Yields the events since the beginning of a turn, or since it failed, in pages from the newest back. */
async function* eventsBack(
  { events }: Pick<StoreWriter, 'events'>,
  { id, session }: Pick<StartedTurn, 'id' | 'session'>,
): AsyncGenerator<SessionEvent> {
  let page = await events.latest(session.id, PAGE)
  for (;;) {
    yield* page
    const before = (page[0]?.seq ?? 1) - 1
    if (before === 0 || page.some((event) => STARTS.has(event.type) && event.turnId === id)) return
    const from = Math.max(0, before - PAGE)
    page = await events.since(session.id, from, before - from)
  }
}
