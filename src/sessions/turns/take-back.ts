import { type Address, conversationOf } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { EventType, SessionEvent } from '../../core/event.ts'
import type { InboxId, SessionId, TurnId } from '../../core/ids.ts'
import type { InboundEvent } from '../../core/message.ts'
import { identifiesNobody, platformIdOf, senderKey } from '../../core/platform-id.ts'
import { SEND_FILE } from '../../core/send-file.ts'
import type { Session } from '../../core/session.ts'
import { stripSilence } from '../../core/silence.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { forgetMade } from './forget-made.ts'
import { nameOfRow } from './user-message.ts'

/** The person who asks to take the last exchange back, and the command. */
export interface TakingBack {
  readonly command: InboxId
  readonly identity: Identity
  readonly event: Pick<InboundEvent, 'address' | 'sender'>
  /** Its messages are answered once more. */
  readonly again?: true
}

export interface TakeBackPorts {
  readonly channels: Channels
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
  /**
   * Takes back what a turn has said in its chat, after the commit. Resolves with false while the outcome of a call is
   * not known: then nothing was done.
   */
  readonly unsay: (tx: StoreWriter, turn: TurnId) => Promise<boolean>
  /** Closes the cards of a question that is over. */
  readonly closeIfOver: (code: string) => void
  /** Returns the present address without a topic that a command cannot always name. */
  roomOf(this: void, address: Address): Address
}

/** The last exchange of a session. */
export interface LastExchange {
  readonly turn: TurnId
  /** The messages that its turn answered. */
  readonly rows: readonly InboxRow[]
}

/**
 * The outcome. `running`: a turn runs or waits. `others`: somebody else has spoken in it. `summed_up`: a summary stands
 * for it. `sending`: a part of the answer is on its way. `repeated`: the same command has done it before a crash.
 */
export type TakenBack =
  | { readonly kind: 'nothing' | 'running' | 'others' | 'summed_up' | 'sending' }
  | { readonly kind: 'done' | 'repeated'; readonly exchange: LastExchange; readonly outside: readonly string[] }

/**
 * Takes the last exchange of the chat in which somebody asks for it back: no later prompt has it, its answer is deleted
 * where the platform can, and the log says so in one event. Whoever has asked in it may do that, and an owner.
 */
export async function takeBackLast(
  tx: StoreWriter,
  session: Session,
  at: number,
  { taking, ports }: { readonly taking: TakingBack; readonly ports: TakeBackPorts },
): Promise<TakenBack> {
  const newest = await tx.events.latestOf(session.id, ENDS, MOST_ENDS)
  const before = newest.findLast(
    (event) => event.type === 'exchange_taken_back' && event.data.command === taking.command,
  )
  if (before?.type === 'exchange_taken_back') {
    const { turn } = before.data
    const outside = await doneOutside(tx, session.id, turn)
    return { kind: 'repeated', exchange: { turn, rows: await tx.inbox.ofTurn(turn) }, outside }
  }
  if (await isBusy(tx, session.id)) return { kind: 'running' }
  const isMeant = (rows: readonly InboxRow[], silent: boolean): boolean =>
    isHere(rows, taking, ports) && (!silent || isOf(rows, taking, ports))
  const found = await findLast(tx, newest, isMeant)
  if (found === undefined) return { kind: 'nothing' }
  const { turn, rows } = found
  if (taking.identity.role !== 'owner' && !isOf(rows, taking, ports)) return { kind: 'others' }
  const summary = await tx.events.latestSummary(session.id)
  if (summary !== undefined && found.seq <= summary.seq - summary.back) return { kind: 'summed_up' }
  if (!(await ports.unsay(tx, turn))) return { kind: 'sending' }
  const ended = await endOpenQuestions(tx, turn, taking, at)
  tx.afterCommit(() => ended.forEach(ports.closeIfOver))
  const said = await wordsOf(tx, session.id, found)
  const messages = rows.flatMap((row) => nameOfRow(row) ?? [])
  await forgetMade(tx, session.id, { messages, said })
  const data = { turn, messages, command: taking.command, ...(taking.again && { again: taking.again }) }
  await tx.events.append(session.id, at, [{ type: 'exchange_taken_back', data }])
  return { kind: 'done', exchange: { turn, rows }, outside: await doneOutside(tx, session.id, turn) }
}

/** The events that say which exchange was the last. */
const ENDS = [
  'turn_completed',
  'turn_cancelled',
  'exchange_taken_back',
  'history_boundary',
  'history_taken_over',
] as const satisfies EventType[]
const MOST_ENDS = 200
/** Events of one turn that are looked through, from the newest back. */
const MOST_OF_TURN = 1_000

/** Returns whether a turn of the session runs, or messages wait for one. */
export async function isBusy(tx: StoreWriter, session: SessionId): Promise<boolean> {
  if ((await tx.turns.running()).some(({ sessionId }) => sessionId === session)) return true
  return (await tx.inbox.waiting(session, 1)).length > 0
}

/**
 * Returns the last exchange that is meant, that the model may know, and that was not taken back, with the number of its
 * end. Where the agent kept silent, nobody but whoever wrote takes it for one. One that is being forgotten is nobody's
 * any more: answered once more, its words would be in a turn that no request means.
 */
async function findLast(
  tx: StoreWriter,
  newest: readonly SessionEvent[],
  isMeant: (rows: readonly InboxRow[], silent: boolean) => boolean,
): Promise<(LastExchange & { readonly seq: number }) | undefined> {
  for (const event of endsBackwards(newest)) {
    if (event.turnId === undefined) return undefined
    if (await tx.forgetting.isForgetting(event.turnId)) continue
    const rows = await tx.inbox.ofTurn(event.turnId)
    // An exchange that was imported has no rows: nobody here has said it.
    if (rows.length === 0) return undefined
    const silent = event.type === 'turn_completed' && event.data.outcome === 'silent'
    if (isMeant(rows, silent)) return { turn: event.turnId, rows, seq: event.seq }
  }
  return undefined
}

/**
 * Yields the ends of turns in which the agent was asked and that the model may know, from the newest back. What was
 * copied from another conversation was said and answered there: to be answered once more, it would bring words of this
 * conversation into that one.
 */
function* endsBackwards(newest: readonly SessionEvent[]): Generator<SessionEvent> {
  const gone = new Set<TurnId | undefined>([undefined])
  for (const event of newest.toReversed()) {
    if (event.type === 'history_boundary' && event.data.kind === 'replaced') return
    if (event.type === 'history_taken_over') return
    if (event.type === 'exchange_taken_back') gone.add(event.data.turn)
    const unasked = event.type === 'turn_completed' && event.data.unasked
    if (!gone.has(event.turnId) && !unasked && !event.forgotten) yield event
  }
}

/**
 * Returns true for an exchange of the chat in which this is asked: a session may join several, and nobody sees here
 * what would be deleted elsewhere. What a program has asked for was said in none.
 */
function isHere(
  rows: readonly InboxRow[],
  { event: { address } }: TakingBack,
  { roomOf }: Pick<TakeBackPorts, 'roomOf'>,
): boolean {
  const here = conversationOf(roomOf(address))
  return rows.some(
    ({ dispatch: { reply } }) => reply.elsewhere === 'only' || conversationOf(roomOf(reply.address)) === here,
  )
}

/** Returns true if nobody but this sender, by whichever id is theirs today, has asked in it. */
function isOf(
  rows: readonly InboxRow[],
  { identity, event }: TakingBack,
  { channels, whoIs }: Pick<TakeBackPorts, 'channels' | 'whoIs'>,
): boolean {
  const { address, sender } = event
  if (identifiesNobody(channels, address.channel, sender)) return false
  const own = senderKey(address.channel, sender)
  return rows.every(({ dispatch }) => {
    if (dispatch.origin !== 'platform' || dispatch.posted !== undefined) return false
    const { address: place, sender: asked } = dispatch.event
    const person = identity.person && whoIs(platformIdOf(channels, place.channel, asked)).person
    const samePerson = person !== undefined && person === identity.person
    return samePerson || senderKey(place.channel, asked) === own
  })
}

/**
 * A question that the exchange has left open is answered with no, one of another kind ends: what nobody knows of any
 * more is neither done nor said later. Returns their codes.
 */
async function endOpenQuestions(
  tx: StoreWriter,
  turn: TurnId,
  taking: TakingBack,
  at: number,
): Promise<readonly string[]> {
  const by = taking.identity.person ?? senderKey(taking.event.address.channel, taking.event.sender)
  const approvals = (await tx.approvals.open(0)).filter(({ turnId }) => turnId === turn)
  const questions = (await tx.questions.open(0)).filter(({ turnId }) => turnId === turn)
  for (const { code } of approvals) await tx.approvals.decide(code, { state: 'denied', by, at })
  for (const { code } of questions) await tx.questions.end(code)
  return [...approvals, ...questions].map(({ code }) => code)
}

/** Returns the texts that lists of sessions may show of the exchange. */
async function wordsOf(tx: StoreWriter, session: SessionId, { turn, rows }: LastExchange): Promise<readonly string[]> {
  const asked = rows.flatMap(({ dispatch: { event } }) => ('text' in event ? [event.text] : []))
  const answers = await tx.events.latestOf(session, ['assistant_message'], MOST_ENDS)
  const said = answers.flatMap((event) =>
    event.turnId === turn && event.type === 'assistant_message' ? [stripSilence(event.data.text).text] : [],
  )
  return [...asked, ...said]
}

/** A file that was sent is deleted with the answer. */
function isOutside(tool: string): boolean {
  return tool !== SEND_FILE
}

/** Returns the names of the tools that may have changed something in the exchange, which stays as it is. */
async function doneOutside(tx: StoreWriter, session: SessionId, turn: TurnId): Promise<readonly string[]> {
  const events = await tx.events.latestOf(session, ['tool_call', 'tool_result'], MOST_OF_TURN)
  const own = events.filter(({ turnId }) => turnId === turn)
  const denied = new Set(
    own.flatMap((event) => (event.type === 'tool_result' && event.data.denied ? [event.data.callId] : [])),
  )
  const changed = own.flatMap((event) =>
    event.type === 'tool_call' &&
    event.data.class !== 'pure' &&
    isOutside(event.data.tool) &&
    !denied.has(event.data.callId)
      ? [event.data.tool]
      : [],
  )
  return [...new Set(changed)]
}
