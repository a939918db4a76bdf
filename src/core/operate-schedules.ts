import type { RequestId } from './keyed-request.ts'

/** The part of `OperatorService` about schedules. Times are ms since the epoch. */
export interface ScheduleOperator {
  /**
   * Makes a reminder, or a task for the agent, with an owner's authority, and returns it. `invalid` for a place that is
   * on no channel, and for times that are not understood, over, or too often.
   */
  add(wanted: NewReminder, once?: RequestId): Promise<ScheduleSummary>
  /** By id. */
  list(): Promise<readonly ScheduleSummary[]>
  /** The next `count` slots, 1-100, else `invalid`; `not_found`. */
  next(id: string, count: number): Promise<readonly number[]>
  /**
   * Runs it now, beside its slots, and resolves once the run is on disk. `not_found`; `conflict` while it runs already;
   * `unavailable` without a daemon.
   */
  run(id: string, once?: RequestId): Promise<StartedRun>
  /** Leaves its slots out from now on. Idempotent; `not_found`. */
  pause(id: string): Promise<ScheduleSummary>
  /** Runs it again from now on: of the slots in between only a reminder for one time is owed. `not_found`. */
  resume(id: string): Promise<ScheduleSummary>
  /** Removes one that was made in a chat, and returns it. `not_found`; `conflict` for one of the configuration. */
  remove(id: string): Promise<ScheduleSummary>
}

/** A reminder as an operator writes it. */
export interface NewReminder {
  /** The place where it is said, such as `telegram:group:-100123/42`. */
  readonly to: string
  /** The times and the text, in either order: `every monday at 8 put the bins out`. */
  readonly words: string
  /** The agent carries the text out, instead of its being said. */
  readonly task?: boolean
  /** The IANA name of the zone of whoever writes. Default: that of the daemon. */
  readonly timezone?: string
}

export interface ScheduleSummary {
  readonly id: string
  readonly source: 'config' | 'command'
  readonly cron: string
  /** The times in words, with their zone; absent from an older daemon. */
  readonly when?: string
  readonly timezone: string
  readonly agent?: string
  readonly prompt: string
  readonly digestOf?: string
  readonly deliverTo: string
  /** The name by which people know that place; absent where none is known, and from an older daemon. */
  readonly deliverTitle?: string
  readonly missed: string
  readonly overlap: string
  readonly paused: boolean
  /** Absent while paused. */
  readonly nextAt?: number
  readonly last?: ScheduleRunReport
}

/** The outcome of one slot. */
export interface ScheduleRunReport {
  readonly slotAt: number
  readonly state: string
  readonly outcome?: string
  /** `parley why <trace id>` shows the rest. */
  readonly traceId?: string
}

export interface StartedRun {
  readonly slotAt: number
  readonly traceId: string
}
