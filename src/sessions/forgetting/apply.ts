import {
  addCounts,
  type ForgetCounts,
  type ForgetPlan,
  MOST_AT_FIRST,
  NOTHING_FORGOTTEN,
  type SessionPlan,
} from '../../core/forgetting.ts'
import type { InboxId, ScheduleId, SessionId } from '../../core/ids.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { withoutAnything, withoutQuoted } from '../people/kept-text.ts'

export interface ApplyPorts {
  /** Removes a schedule with what it still owes. */
  dropSchedule(tx: StoreWriter, id: ScheduleId): Promise<void>
  /** Called after a commit that emptied events: what is in memory of the session is as it was before. */
  dropView(this: void, session: SessionId): void
}

/** Some of the work, one transaction. It can be done again. */
export type ApplyStep = (tx: StoreWriter) => Promise<Partial<ForgetCounts>>

const AT_ONCE = 100

/**
 * The first transaction: from then on no prompt, no search and no list has any of it. It notes in each log that it was
 * emptied, which keeps a summary or a checkpoint that is being written from bringing it back.
 */
export async function beginApplying(
  tx: StoreWriter,
  id: string,
  plan: ForgetPlan,
  ports: ApplyPorts,
): Promise<ForgetCounts> {
  let counts: ForgetCounts = { ...NOTHING_FORGOTTEN, sessions: plan.sessions.length }
  await tx.keyedRequests.forgetAnswers()
  for (const session of plan.sessions) counts = addCounts(counts, await beginSession(tx, id, session, ports))
  for (const no of plan.entries) if (await tx.memory.remove(no)) counts = addCounts(counts, { memories: 1 })
  for (const schedule of plan.schedules) {
    await ports.dropSchedule(tx, schedule)
    counts = addCounts(counts, { reminders: 1 })
  }
  // A message that waits is not answered any more.
  for (const row of plan.inbox) {
    const found = await tx.inbox.get(row)
    if (found?.state === 'waiting' && found.decision.kind === 'run') await tx.inbox.settle(row, outcomeOf(plan))
  }
  return counts
}

async function beginSession(
  tx: StoreWriter,
  by: string,
  { id, empty, cut, parts = [], turns, unnamed, running }: SessionPlan,
  { dropView }: ApplyPorts,
): Promise<Partial<ForgetCounts>> {
  const session = await tx.sessions.get(id)
  if (session === undefined) return {}
  let counts = addCounts(NOTHING_FORGOTTEN, await tx.forgetting.empty(id, empty.slice(0, MOST_AT_FIRST), 'all'))
  counts = addCounts(counts, await tx.forgetting.empty(id, cut, 'quotes'))
  counts = addCounts(counts, await tx.forgetting.emptyParts(id, parts))
  counts = addCounts(counts, { questions: await tx.forgetting.emptyTurns(turns) })
  if (unnamed !== undefined && (empty.length + parts.length > 0 || running !== undefined || unnamed !== 'preview'))
    await tx.forgetting.unname(id, unnamed)
  const data = { by, events: empty.length + parts.length }
  await tx.events.append(id, session.lastActivityAt, [{ type: 'words_forgotten', data }])
  tx.afterCommit(() => dropView(id))
  return counts
}

/** Yields the rest of the work, in small transactions. */
export function* pieces(plan: ForgetPlan): Generator<ApplyStep> {
  for (const { id, empty } of plan.sessions)
    for (const seqs of inParts(empty.slice(MOST_AT_FIRST))) yield (tx) => tx.forgetting.empty(id, seqs, 'all')
  for (const rows of inParts(plan.inbox)) yield (tx) => emptyReceived(tx, rows, outcomeOf(plan))
  for (const rows of inParts(plan.quoting)) yield (tx) => emptyReceived(tx, rows)
  for (const sources of inParts(plan.sources))
    yield async (tx) => {
      let counts = NOTHING_FORGOTTEN
      for (const source of sources) counts = addCounts(counts, await tx.forgetting.emptySent(source))
      return counts
    }
  for (const { id } of plan.sessions)
    for (const media of inParts(plan.media)) yield async (tx) => ({ transcripts: await tx.forgetting.unuse(id, media) })
  for (const media of inParts(plan.media))
    yield async (tx) => ({ transcripts: await tx.forgetting.forgetTranscripts(media) })
  for (const keys of inParts(plan.applicants))
    yield async (tx) => {
      for (const key of keys) await tx.forgetting.unnameApplicant(key)
      return {}
    }
}

/** Returns true if there are words of a received message, or reasons about it, that can be forgotten. */
export function isNotEmpty(row: Pick<InboxRow, 'dispatch' | 'decision'>): boolean {
  const { dispatch, decision } = row
  return JSON.stringify(withoutAnything(row)) !== JSON.stringify({ dispatch, decision })
}

/** With an outcome the words go, without one what others are quoted with. */
async function emptyReceived(
  tx: StoreWriter,
  rows: readonly InboxId[],
  outcome?: GoneFor,
): Promise<Partial<ForgetCounts>> {
  let received = 0
  for (const id of rows) {
    const row = await tx.inbox.get(id)
    if (row === undefined) continue
    const { dispatch } = row
    const left = outcome === undefined ? { ...row, dispatch: withoutQuoted(dispatch) } : withoutAnything(row)
    // A command in reply to it, such as the one that forgets it, is no quotation to count.
    const counts = outcome !== undefined || dispatch.event.kind !== 'command'
    if ((await tx.forgetting.emptyReceived(id, left)) && counts) received++
    // A platform gives the words again with an edit or a quotation, whatever was decided about the message.
    if (outcome !== undefined && row.state !== 'waiting' && row.outcome !== 'forgotten')
      await tx.inbox.settle(id, outcome)
  }
  return outcome === undefined ? { quotes: received } : { received }
}

type GoneFor = 'forgotten' | 'aged'

function outcomeOf({ aged }: ForgetPlan): GoneFor {
  return aged ? 'aged' : 'forgotten'
}

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += AT_ONCE) yield items.slice(at, at + AT_ONCE)
}
