import { type Clock, sleep } from '../../core/clock.ts'
import type { SessionId } from '../../core/ids.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { RunningTurns } from '../turns/running-turns.ts'

export interface RunWait {
  readonly clock: Clock
  readonly running: Pick<RunningTurns, 'nextEnd'>
  readonly session: SessionId
  readonly ms: number
  readonly signal: AbortSignal
  /** Reads the run as the store has it now. */
  look(): Promise<InboxRow>
}

/**
 * Returns the run's row once it has its outcome, or as it is when the time is over or the caller leaves. Only the store
 * decides; the end of a turn is just a reason to look again.
 */
export async function waitForRun({ clock, running, session, ms, signal, look }: RunWait): Promise<InboxRow> {
  const over = new AbortController()
  const leave = (): void => over.abort()
  signal.addEventListener('abort', leave, { once: true })
  let late = signal.aborted
  const time = sleep(clock, ms, over.signal).then(() => {
    late = true
  })
  try {
    for (;;) {
      // Subscribed before the look, so that an end in between is not missed.
      const ended = running.nextEnd(session)
      const row = await look()
      if (row.state === 'done' || late) return row
      await Promise.race([time, ended])
    }
  } finally {
    signal.removeEventListener('abort', leave)
    over.abort()
  }
}
