import type { Clock } from '../core/clock.ts'
import { mediaOf, textContent } from '../core/content.ts'
import type { ToolResultData } from '../core/event.ts'
import type { JournalDraft } from '../core/turn.ts'
import { recordStep } from '../sessions/turns/record-turn.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import type { FilesDeps } from './read-files.ts'

interface RecordDeps {
  readonly store: Store
  readonly clock: Clock
  readonly files: Pick<FilesDeps['files'], 'drop'>
}

/** Commits a step of a turn; returns the result that is on record where that is another than the tool gave. */
export type RecordStep = (event: JournalDraft) => Promise<ToolResultData | undefined>

/**
 * Returns what commits the steps of a turn. A tool may read what is said elsewhere, and that may be forgotten, deleted
 * or taken back before its result is on record: whoever takes it out would not find it here. `since` is the number of
 * removals before the first call of a step that a crash has interrupted.
 */
export function stepRecorder({ store, clock, files }: RecordDeps, turn: StartedTurn, since: number): RecordStep {
  const before = new Map<string, number>()
  return async (event) => {
    const stored = await store.write(async (tx) => {
      if (event.type === 'tool_call') before.set(event.data.callId, await tx.forgetting.removals())
      if (event.type !== 'tool_result') return recordStep(tx, turn, clock.now(), event).then(() => undefined)
      const { type, data, readAfter } = event
      const stale = await isStale(tx, data, readAfter ?? before.get(data.callId) ?? since)
      const replaced = stale ? { callId: data.callId, tool: data.tool, ...GONE } : undefined
      await recordStep(tx, turn, clock.now(), { type, data: replaced ?? data })
      return replaced
    })
    if (stored !== undefined && event.type === 'tool_result')
      await files.drop(mediaOf(event.data.content).map(({ media }) => media))
    return stored
  }
}

/** Memories are few and read at once: of them it is enough that anything was taken out. */
function isStale(tx: StoreWriter, { shows = [], authors = [] }: ToolResultData, since: number): Promise<boolean> {
  if (authors.length > 0) return tx.forgetting.hasRemovedSince(since)
  return shows.length > 0 ? tx.forgetting.hasRemovedSince(since, shows) : Promise.resolve(false)
}

const GONE = {
  content: textContent(
    'Some of what this would have shown you was forgotten, deleted or taken back meanwhile, so nothing of it is kept. What the call has sent was sent. Read it again if you still need it.',
  ),
  isError: true,
} as const
