import { LRUCache } from 'lru-cache'
import type { AgentProfile } from '../../core/agent-profile.ts'
import type { Charge } from '../../core/budget.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { EventType, SummaryData } from '../../core/event.ts'
import { failpoint } from '../../core/failpoint.ts'
import type { SessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { ModelMessage } from '../../core/model.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { Summarize, TurnResult } from '../../core/turn.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { partAt, sourceOf } from '../view/history-view.ts'
import type { ModelView } from '../view/model-view.ts'
import type { Transcript } from '../view/transcript.ts'

export interface CompactionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly transcript: Pick<Transcript, 'view' | 'saw'>
  readonly running: Pick<RunningTurns, 'nextEnd' | 'stopping'>
  readonly summarize: Summarize
  agent(session: SessionIdentity): AgentProfile
}

/** Puts a summary in the place of the older turns of a session. */
export interface Compaction {
  /** Called before the end of a turn is stored: a summary follows it where the context is nearly full (R18, R24). */
  ended(this: void, turn: { readonly session: SessionIdentity }, result: TurnResult): void
  /**
   * Writes a summary now, charged to whoever asks for it; returns the number of turns it stands for, 0 where there are
   * too few (R19). Rejects with what the model fails with, and with `conflict` while another summary of the session is
   * written.
   */
  compact(this: void, session: SessionIdentity, charge?: Charge): Promise<number>
}

/** The part of the window from which on a summary is written (R18). */
const FULL = 0.8
/** The newest turns stay as they are, two messages each (R20). */
const KEPT = 8
/** With fewer messages, in all or since the last summary, there is none (R19). */
const FEWEST = 6
/** After a failure the next turns go without (R25). */
const PAUSE_MS = 600_000
const MOST_PAUSED = 10_000

export function createCompaction(deps: CompactionDeps): Compaction {
  const { clock, logger, running, agent } = deps
  const writing = new Set<SessionId>()
  const paused = new LRUCache<SessionId, number>({ max: MOST_PAUSED })

  async function compact(session: SessionIdentity, charge?: Charge): Promise<number> {
    if (writing.has(session.id))
      throw new ParleyError('conflict', 'I am writing a summary of this conversation already.')
    writing.add(session.id)
    try {
      return await writeSummary(deps, session, charge)
    } finally {
      writing.delete(session.id)
    }
  }

  async function afterEnd(session: SessionIdentity): Promise<void> {
    await running.nextEnd(session.id)
    if (writing.has(session.id)) return
    try {
      await compact(session)
    } catch (err) {
      if (running.stopping.aborted) return
      paused.set(session.id, clock.now())
      logger.warn('A summary could not be written; the conversation continues without', { sessionId: session.id, err })
    }
  }

  return {
    compact,
    ended({ session }, result) {
      if (running.stopping.aborted || !isNearlyFull(result, agent(session).contextTokens)) return
      const since = clock.now() - (paused.get(session.id) ?? Number.NEGATIVE_INFINITY)
      if (since >= 0 && since < PAUSE_MS) return
      paused.delete(session.id)
      void afterEnd(session)
    },
  }
}

/**
 * The window of the agent counts, else the one that the server of its model has named. A request that was too long
 * shows it as well, also where none is known.
 */
function isNearlyFull(result: TurnResult, configured: number | undefined): boolean {
  if (result.kind === 'failed') return result.code === 'model_context_length'
  if (result.kind === 'aborted' || result.context === undefined) return false
  const { read, shortened, window = Number.POSITIVE_INFINITY } = result.context
  return shortened || read >= FULL * (configured ?? window)
}

/** The turns that a summary shall stand for, oldest first. */
interface Fold {
  readonly messages: readonly ModelMessage[]
  readonly turns: number
  /** The event that ended the last of them. */
  readonly upTo: number
}

async function writeSummary(deps: CompactionDeps, session: SessionIdentity, charge?: Charge): Promise<number> {
  const { store, clock, logger, transcript, summarize, agent, running } = deps
  const view = await transcript.view(session)
  const fold = foldOf(view)
  if (fold === undefined) return 0
  const { messages, turns, upTo } = fold
  const summary = await summarize({ agent: agent(session), sessionId: session.id, charge, messages }, running.stopping)
  failpoint('CP16-summary-uncommitted')
  const at = clock.now()
  const written = await store.write(async (tx) => {
    const lastSeq = await unchangedSince(tx, session, view.lastSeq)
    if (lastSeq === undefined) return undefined
    const data: SummaryData = { ...summary, turns, back: lastSeq + 1 - upTo }
    const events = [{ type: 'context_compacted', data }] as const
    return { seq: await tx.events.append(session.id, at, events), at, events }
  })
  if (written === undefined) return 0
  transcript.saw(session, written)
  logger.info('A summary stands for older turns', { sessionId: session.id, turns, model: summary.model })
  return turns
}

/**
 * Returns the turns before those that stay, with the summary before them; undefined where there are too few. A
 * truncation keeps what it hides out of a summary too (K33).
 */
function foldOf({ history, hidden, summary }: ModelView): Fold | undefined {
  const folded = history.slice(0, -KEPT)
  const last = folded.findLast(({ role }) => role === 'user')
  const upTo = last && sourceOf(last)?.seq
  if (partAt(history, summary?.seq ?? 0).after.length < FEWEST || upTo === undefined) return undefined
  const before = hidden.length === 0 ? (summary?.pair ?? []) : []
  return { messages: [...before, ...folded], turns: folded.length / 2, upTo }
}

/** Events after which a summary of what was read before them would say what the model shall not be shown. */
const CHANGES: readonly EventType[] = [
  'history_boundary',
  'message_deleted',
  'exchange_taken_back',
  'context_compacted',
  'history_taken_over',
  'words_forgotten',
]

/**
 * Returns the number of the newest event; undefined where the session is gone or was changed after `seq`. Another one
 * may have its id by now.
 */
async function unchangedSince(
  tx: StoreWriter,
  { id, createdAt }: Pick<SessionIdentity, 'id' | 'createdAt'>,
  seq: number,
): Promise<number | undefined> {
  const now = await tx.sessions.get(id)
  if (now === undefined || now.createdAt !== createdAt || now.lastSeq < seq) return undefined
  const later = await tx.events.since(id, seq, now.lastSeq - seq)
  return later.some(({ type }) => CHANGES.includes(type)) ? undefined : now.lastSeq
}
