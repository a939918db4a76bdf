import type { SessionId, TurnId } from '../../core/ids.ts'
import { messageNameKey } from '../../core/message.ts'
import type { StoreReader } from '../../store/store.ts'
import { nameOfRow } from '../turns/user-message.ts'
import { isImported, MOST_COPIES } from './origin.ts'

/** The parts of a store that are read, of what is committed or inside a transaction. */
export type ForgetReader = Pick<
  StoreReader,
  | 'events'
  | 'sessions'
  | 'authors'
  | 'forgetting'
  | 'memory'
  | 'schedules'
  | 'inbox'
  | 'outbox'
  | 'turns'
  | 'admissions'
  | 'chatMoves'
  | 'questions'
>

/** Rows between two pauses: some milliseconds. */
export const PAGE = 100

/** Called after each page. A transaction must not wait for anything but the store: there it does nothing. */
export type Pause = () => Promise<unknown>

export const NO_PAUSE: Pause = async () => {}

/** Returns what comes of work in steps, with a pause after each. */
export async function pausing<Result>(work: Generator<void, Result>, pause: Pause): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
  }
}

/** Some milliseconds. */
const STEP = 5_000

/** Does something with each, and yields after each step of the work. */
export function* inSteps<T>(all: Iterable<T>, each: (one: T) => void): Generator<void> {
  let done = 0
  for (const one of all) {
    each(one)
    if (++done % STEP === 0) yield
  }
}

/**
 * Yields the sessions that may hold something of a session's log: its copies, its tasks, and the imported sessions that
 * it has continued, of which no person needs to be an author.
 */
export async function* relativesOf(read: ForgetReader, session: SessionId): AsyncGenerator<SessionId> {
  yield* await read.forgetting.copiesOf(session)
  yield* childrenOf(read, session)
  for (const event of await read.events.latestOf(session, ['history_taken_over'], MOST_COPIES)) {
    const from = event.type === 'history_taken_over' ? await read.sessions.get(event.data.from) : undefined
    if (from && isImported(from)) yield from.id
  }
}

/** The sessions below another are listed so many at a time. */
const CHILDREN_PAGE = 200

/** Yields the sessions that tasks of another have begun. */
async function* childrenOf({ sessions }: ForgetReader, parent: SessionId): AsyncGenerator<SessionId> {
  const query = { parents: [parent], inactive: true, limit: CHILDREN_PAGE }
  for (let offset = 0; ; offset += CHILDREN_PAGE) {
    const { sessions: page } = await sessions.list({ ...query, offset })
    for (const { id } of page) yield id
    if (page.length < CHILDREN_PAGE) return
  }
}

/** The turn of a session that has not ended, and the messages that it took. */
export interface RunningRows {
  readonly turn: TurnId
  /** By their names in the session, as `messageNameKey` writes them. */
  readonly messages: readonly string[]
}

/** Returns the turn of a session that has not ended. */
export async function runningIn({ turns, inbox }: ForgetReader, session: SessionId): Promise<RunningRows | undefined> {
  const turn = (await turns.running()).find(({ sessionId }) => sessionId === session)
  const rows = turn === undefined ? [] : await inbox.ofTurn(turn.id)
  const messages = rows.flatMap((row) => nameOfRow(row) ?? []).map(messageNameKey)
  return turn && { turn: turn.id, messages }
}
