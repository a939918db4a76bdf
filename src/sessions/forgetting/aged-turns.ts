import type { Clock } from '../../core/clock.ts'
import { hasContent } from '../../core/emptied.ts'
import type { SessionEvent } from '../../core/event.ts'
import { type ForgetPlan, NO_PLAN, NOTHING_FORGOTTEN } from '../../core/forgetting.ts'
import type { InboxId, MediaId, SessionId, TurnId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import { messagesIn } from '../../core/words-in.ts'
import type { StoreWriter } from '../../store/store.ts'
import { forgetMade } from '../turns/forget-made.ts'
import { agedEvents } from './aged-events.ts'
import { type ApplyPorts, beginApplying, pieces } from './apply.ts'
import { saidBy } from './made-meanwhile.ts'
import { filesIn } from './matches.ts'
import { MOST_COPIES } from './origin.ts'

const DAY_MS = 86_400_000
/** Summaries and checkpoints that are looked through. */
const FOLDS = 100

export interface AgedRemoval {
  readonly session: Session
  /** The number of the session's row, by which retention pages through sessions. */
  readonly no: number
  /** Ms since the epoch: what is from before it is too old. */
  readonly before: number
  /** The rule that says so. */
  readonly by: string
  /** The request under which what was emptied is scrubbed. */
  readonly request: string
  /** The last event that this round has looked at. */
  readonly seq: number
}

interface AgedPorts extends ApplyPorts {
  readonly clock: Clock
}

interface Removed {
  readonly events: number
  readonly media: readonly MediaId[]
  /** The last event that was looked at. */
  readonly seq: number
}

/**
 * Empties the next whole turns of a session that are too old. Returns what was emptied; undefined: nothing is left, or
 * a turn runs. The next round begins with the first event that is not too old yet: behind events of a clock that was
 * ahead for a while lie older ones.
 */
export async function removeAged(
  tx: StoreWriter,
  removal: AgedRemoval,
  ports: AgedPorts,
): Promise<Removed | undefined> {
  const { session, no, before, by, request, seq } = removal
  if ((await tx.turns.running()).some(({ sessionId }) => sessionId === session.id)) return undefined
  const row = (await tx.forgetting.sessions(no - 1, 1))[0]
  if (row?.no !== no) return undefined
  const now = ports.clock.now()
  const found = await agedEvents(tx.events, session.id, { after: Math.max(row.seq, seq), before, now })
  const aged = wholeTurns(found, { before, now })
  const last = aged.at(-1)
  if (last === undefined) return undefined
  const full = aged.filter((event) => !event.forgotten && hasContent(event))
  const together = aged.findLast((event, at) => event.seq === row.seq + at + 1)
  if (together !== undefined) await tx.forgetting.retained(no, together.seq)
  if (full.length === 0) return { events: 0, media: [], seq: last.seq }
  const plan = await planOf(tx, session, full)
  await beginApplying(tx, by, plan, ports)
  for (const piece of pieces(plan)) await piece(tx)
  if ((await tx.forgetting.get(request)) === undefined)
    await tx.forgetting.begin({ id: request, state: 'running', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt: now })
  return { events: full.length, media: plan.media, seq: last.seq }
}

/**
 * Returns events that are too old without those of a turn that ends behind them: a turn goes as a whole. One that has
 * not ended within a day never will.
 */
function wholeTurns(
  older: readonly SessionEvent[],
  { before, now }: { readonly before: number; readonly now: number },
): readonly SessionEvent[] {
  const end = older.findLastIndex(({ type }) => type === 'turn_completed' || type === 'turn_cancelled')
  const rest = older.slice(end + 1)
  const open = rest.findIndex((event) => event.at >= before - DAY_MS && event.at <= now && isOfTurn(event))
  return open === -1 ? older : older.slice(0, end + 1 + open)
}

function isOfTurn(event: SessionEvent): boolean {
  return event.turnId !== undefined || (event.type === 'user_message' && event.data.triggers)
}

/** Everything made of old words goes with them: memories, summaries and working memories that stand for them. */
async function planOf(tx: StoreWriter, session: Session, found: readonly SessionEvent[]): Promise<ForgetPlan> {
  const { id } = session
  const first = found[0]?.seq ?? 0
  const messages = found.flatMap(messagesIn)
  await forgetMade(tx, id, { messages, said: messages.map(({ text }) => text) })
  const folds = (await tx.events.latestOf(id, ['context_compacted', 'checkpoint_written'], FOLDS)).filter(
    (event) =>
      !event.forgotten &&
      (event.type === 'context_compacted' || event.type === 'checkpoint_written') &&
      first <= event.seq - event.data.back,
  )
  const inbox: InboxId[] = []
  const last = Math.max(...found.map(({ at }) => at))
  for (const { messageId = '' } of messages)
    for (const row of await tx.inbox.inSession(id, messageId)) if (row.dispatch.receivedAt <= last) inbox.push(row.id)
  const copied = await copiedTo(tx, session)
  const ended = found.flatMap(({ seq, turnId }): TurnId[] => (turnId === undefined || seq <= copied ? [] : [turnId]))
  const turns = [...new Set(ended)]
  const { sources, media } = await saidBy(tx, turns)
  const empty = [...new Set([...found, ...folds].map(({ seq }) => seq))]
  // A description that a model made of them goes with the working memory, whatever its words.
  const described = session.descriptionSource === 'ai' && folds.some(({ type }) => type === 'checkpoint_written')
  const unnamed = described ? 'description' : (await isShown(tx, id, found)) ? 'preview' : undefined
  return {
    ...{ quoting: [], unsay: [], entries: [], schedules: [], applicants: [], inbox, sources, aged: true },
    sessions: [{ id, empty, cut: [], turns, ...(unnamed === undefined ? {} : { unnamed }) }],
    media: [...new Set([...found.flatMap(filesIn), ...media])],
  }
}

/**
 * Returns the number of the last event that was copied from a session which still exists, or 0. What those turns have
 * said in chats goes by the limit of that session: in copies of older stores they have its turns' ids (decision 0040).
 */
async function copiedTo(
  { events, sessions }: Pick<StoreWriter, 'events' | 'sessions'>,
  { id }: Session,
): Promise<number> {
  for (const event of (await events.latestOf(id, ['history_taken_over'], MOST_COPIES)).toReversed())
    if (event.type === 'history_taken_over' && (await sessions.get(event.data.from))) return event.seq
  return 0
}

/** Returns whether the last words of a session, which lists show, are among these events. */
export async function isShown(tx: StoreWriter, id: SessionId, found: readonly SessionEvent[]): Promise<boolean> {
  const [last] = await tx.events.latestOf(id, ['user_message', 'assistant_message', 'assistant_posted'], 1)
  return last !== undefined && last.seq <= (found.at(-1)?.seq ?? 0)
}
