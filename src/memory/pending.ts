import { type Clock, type Moment, momentOf, passedSince } from '../core/clock.ts'
import type { SessionEvent } from '../core/event.ts'
import type { SessionId } from '../core/ids.ts'
import type { CheckpointSettings } from '../core/memory.ts'
import type { Store } from '../store/store.ts'

export interface PendingDeps {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly settings: CheckpointSettings
}

/** Counts and timers until the next checkpoint of each session; after a start they are made from the log again. */
export interface PendingCheckpoints {
  /** Counts a turn or a quiet message of a session; true: there are enough for a checkpoint. */
  count(session: SessionId, what: 'turns' | 'quiet'): Promise<boolean>
  /** Begins to count again: a checkpoint begins, whether or not it will succeed. */
  begun(session: SessionId): void
  /** Calls `fire` once nothing was said for so long. */
  idle(session: SessionId, ms: number, fire: () => void): void
  cancelIdle(session: SessionId): void
  /** Calls `fire` after a failure. */
  retry(session: SessionId, ms: number, fire: () => void): void
  /** Returns true for a session that has counts or timers. */
  has(session: SessionId): boolean
  /** Called when nothing is to be retried. */
  done(session: SessionId): void
}

interface State {
  turns: number
  quiet: number
  counted: boolean
  /** The last checkpoint for quiet messages. */
  quietAt: Moment | undefined
  idle: (() => void) | undefined
  retry: (() => void) | undefined
}

/** The sessions that are remembered; one more drops the one used longest ago, whose timer is found again in the log. */
const MOST_SESSIONS = 20_000
const MOST_EVENTS = 500
const MINUTE_MS = 60_000

export function createPending({ store, clock, settings }: PendingDeps): PendingCheckpoints {
  const states = new Map<SessionId, State>()

  function stateOf(session: SessionId): State {
    const known = states.get(session) ?? {
      ...{ turns: 0, quiet: 0, counted: false, quietAt: undefined },
      ...{ idle: undefined, retry: undefined },
    }
    states.delete(session)
    states.set(session, known)
    if (states.size > MOST_SESSIONS) forgetOldest()
    return known
  }

  function forgetOldest(): void {
    const [oldest] = states
    oldest?.[1].idle?.()
    oldest?.[1].retry?.()
    if (oldest) states.delete(oldest[0])
  }

  /** The first call for a session after a start counts its log, which has the newest event already. */
  async function add(session: SessionId, state: State, what: 'turns' | 'quiet'): Promise<void> {
    if (state.counted) {
      state[what]++
      return
    }
    state.counted = true
    const last = await store.read.events.latestCheckpoint(session)
    const cursor = last === undefined ? 0 : last.seq - last.data.back
    const events = (await store.read.events.latest(session, MOST_EVENTS)).filter(({ seq }) => seq > cursor)
    state.turns += events.filter(isTurnEnd).length
    state.quiet += events.filter(isQuiet).length
  }

  return {
    async count(session, what) {
      const state = stateOf(session)
      await add(session, state, what)
      if (what === 'turns') return state.turns >= settings.turns
      // People may talk a lot: one for quiet messages is enough for as long as a pause would take.
      const { quietAt } = state
      const paused = quietAt !== undefined && passedSince(clock, quietAt) < settings.idleMinutes * MINUTE_MS
      return state.quiet >= settings.quietGroupMessages && !paused
    },
    begun(session) {
      const state = stateOf(session)
      if (state.quiet >= settings.quietGroupMessages) state.quietAt = momentOf(clock)
      Object.assign(state, { turns: 0, quiet: 0, counted: true })
    },
    idle(session, ms, fire) {
      const state = stateOf(session)
      state.idle?.()
      state.idle = clock.after(ms, () => {
        state.idle = undefined
        fire()
      })
    },
    cancelIdle(session) {
      const state = states.get(session)
      state?.idle?.()
      if (state) state.idle = undefined
    },
    retry(session, ms, fire) {
      const state = stateOf(session)
      state.retry?.()
      state.retry = clock.after(ms, () => {
        state.retry = undefined
        fire()
      })
    },
    has: (session) => states.has(session),
    done(session) {
      const state = states.get(session)
      state?.retry?.()
      if (state) state.retry = undefined
    },
  }
}

function isTurnEnd({ type }: SessionEvent): boolean {
  return type === 'turn_completed' || type === 'turn_cancelled'
}

function isQuiet(event: SessionEvent): boolean {
  return event.type === 'user_message' && !event.data.triggers && !event.data.refused
}
