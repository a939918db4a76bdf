import type { SessionEvent } from '../../core/event.ts'
import {
  addCounts,
  type ForgetCounts,
  type ForgetPlan,
  NOTHING_FORGOTTEN,
  type SessionPlan,
} from '../../core/forgetting.ts'
import type { InboxId, SessionId, TurnId } from '../../core/ids.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { nameOfRow } from '../turns/user-message.ts'
import { isSame } from '../view/received.ts'
import { filesIn } from './matches.ts'

/**
 * Returns what a turn that ran while what it was shown was forgotten has made before that was asked: it may be made of
 * the forgotten words, which nobody has any more to compare. From then on it can make nothing (`refuseForgotten`).
 */
export async function madeMeanwhile(
  { forgetting }: Pick<StoreWriter, 'forgetting'>,
  turn: TurnId,
  events: readonly SessionEvent[],
): Promise<Pick<ForgetPlan, 'entries' | 'media'>> {
  return { entries: await forgetting.entriesOfTurn(turn), media: [...new Set(events.flatMap(filesIn))] }
}

/**
 * Adds the memories that turns which run have made so far, where those go once they have ended: until then others would
 * be shown them. Returns true if there are any that were not among them.
 */
export async function addMadeSoFar(
  { forgetting }: Pick<StoreReader, 'forgetting'>,
  sessions: readonly SessionPlan[],
  entries: Set<number>,
): Promise<boolean> {
  const before = entries.size
  for (const { running } of sessions)
    for (const no of running === undefined ? [] : await forgetting.entriesOfTurn(running.turn)) entries.add(no)
  return entries.size > before
}

/** Returns what turns have said in chats, as their answer and beside it, with the files that were sent so. */
export async function saidBy(
  { outbox }: Pick<StoreWriter, 'outbox'>,
  turns: readonly TurnId[],
): Promise<Pick<ForgetPlan, 'sources' | 'media'>> {
  const rows = (await Promise.all(turns.map((turn) => outbox.ofTurn(turn)))).flat()
  return {
    sources: [...new Set(rows.map(({ source }) => source))],
    media: [...new Set(rows.flatMap(({ part }) => part.file?.media ?? []))],
  }
}

export async function emptySaid(
  { forgetting }: Pick<StoreWriter, 'forgetting'>,
  { sources }: Pick<ForgetPlan, 'sources'>,
): Promise<ForgetCounts> {
  let counts = NOTHING_FORGOTTEN
  for (const source of sources) counts = addCounts(counts, await forgetting.emptySent(source))
  return counts
}

/** Notes which of these messages the running turn of a session took: they go once it has ended. */
export function withRows(session: SessionPlan, meant: readonly Pick<InboxRow, 'id' | 'turnId'>[]): SessionPlan {
  const { running } = session
  const rows = meant.flatMap(({ id, turnId }) => (running !== undefined && turnId === running.turn ? [id] : []))
  return running === undefined || rows.length === 0 ? session : { ...session, running: { ...running, rows } }
}

/** Returns the rows of a turn whose messages are among these events: others may have asked with the same turn. */
export function rowsIn(
  events: readonly SessionEvent[],
  { seqs, asked }: { readonly seqs: readonly number[]; readonly asked: readonly InboxRow[] },
): readonly InboxId[] {
  const emptied = events.flatMap((event) =>
    seqs.includes(event.seq) && event.type === 'user_message' ? event.data : [],
  )
  const isEmptied = (one: InboxRow): boolean => {
    const name = nameOfRow(one)
    return emptied.some((said) =>
      said.row === undefined ? name !== undefined && isSame(said, name) : said.row === one.id,
    )
  }
  return asked.filter(isEmptied).map(({ id }) => id)
}

/** Returns the plan of a session of which nothing goes but what its running turn makes: that was shown some of it. */
export function shownLater(id: SessionId, turn: TurnId): SessionPlan {
  return { id, empty: [], cut: [], turns: [], unnamed: 'preview', running: { turn, empty: [] } }
}
