import type { SessionEvent } from '../../core/event.ts'
import type { ForgetPlan } from '../../core/forgetting.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'
import { filesIn } from './matches.ts'

/** A turn that ran while what it was shown was forgotten, and its events. */
interface RanMeanwhile {
  readonly session: SessionId
  readonly turn: TurnId
  /** The time of the request to forget, ms since the epoch. */
  readonly since: number
  readonly events: readonly SessionEvent[]
}

/** Returns what such a turn has made: it may be made of the forgotten words, which nobody has any more to compare. */
export async function madeMeanwhile(
  { forgetting, schedules }: Pick<StoreWriter, 'forgetting' | 'schedules'>,
  { session, turn, since, events }: RanMeanwhile,
): Promise<Pick<ForgetPlan, 'entries' | 'schedules' | 'media'>> {
  const made = (await schedules.all()).filter(
    ({ source, definition, createdAt }) => source === 'command' && definition.madeIn === session && createdAt >= since,
  )
  return {
    entries: await forgetting.entriesOfTurn(turn),
    schedules: made.map(({ id }) => id),
    media: [...new Set(events.flatMap(filesIn))],
  }
}
