import type { ScheduleId, TraceId } from '../core/ids.ts'
import type { DigestReading, NewSchedule, NewSlot, Schedule, ScheduleSlot, SlotEnd } from '../core/schedule.ts'

/** Schedules and their slots: a part of the store port, apart only for its size. */
export interface ScheduleReader {
  get(id: ScheduleId): Promise<Schedule | undefined>
  /** By id. */
  all(): Promise<readonly Schedule[]>
  /** Claimed slots of every schedule, by schedule and time: what is running or owes a run. */
  claimed(): Promise<readonly ScheduleSlot[]>
  /** Newest slot first. */
  recent(id: ScheduleId, limit: number): Promise<readonly ScheduleSlot[]>
  /** The newest slot whose run was completed. */
  lastDone(id: ScheduleId): Promise<ScheduleSlot | undefined>
}

export interface ScheduleWriter {
  /**
   * Adds a schedule, of which the slots after `since` come due, or replaces its definition, source and creator; pause
   * and evaluated time stay as they are.
   */
  put(schedule: NewSchedule, at: number, since?: number): Promise<void>
  /** Its slots stay, so that the same id, added again, runs none of them a second time. False if there is none. */
  remove(id: ScheduleId): Promise<boolean>
  /** `not_found`. */
  setPaused(id: ScheduleId, paused: boolean, at: number): Promise<void>
  /** Every slot up to `to` is decided. Also sets it back, where the clock went back. */
  setEvaluated(id: ScheduleId, to: number): Promise<void>
  /** Writes a slot that was decided. False, and nothing written, when the slot of that time is there already. */
  addSlot(slot: NewSlot): Promise<boolean>
  /** Notes how far the digest of a claimed slot's run reads. */
  setReading(traceId: TraceId, reading: DigestReading): Promise<void>
  /** Ends a claimed slot by the trace of its run. False if none of that trace is claimed. */
  endSlot(traceId: TraceId, end: SlotEnd): Promise<boolean>
  /** Forgets ended slots of a time before `before`. Returns how many. */
  pruneSlots(id: ScheduleId, before: number): Promise<number>
}
