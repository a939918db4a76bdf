import type { SessionEvent } from '../../core/event.ts'
import { addUsage, type Usage } from '../../core/model.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { StartedTurn } from './started-turn.ts'

interface Ended {
  readonly kind: string
  readonly usage: Usage
  readonly steps: number
}

/**
 * Returns the ending of a turn with the steps on record, where it knows of none: whatever else than its agent ends a
 * turn, such as a further crash, its steps are paid for. Those of a turn that failed before are in its first end.
 */
export async function withStepsOnRecord<Ending extends Ended>(
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
