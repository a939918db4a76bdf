import type { Address } from './address.ts'
import type { AgentId, PersonId, ScheduleId, SessionId, TurnId } from './ids.ts'
import type { Reader } from './outbound.ts'
import type { AuthorId } from './platform-id.ts'
import type { Timing } from './schedule.ts'
import type { Role } from './session.ts'
import type { TurnRef } from './session-tools.ts'

/**
 * A text that somebody in a chat wants said or done, and its times: exactly one of `at`, `every` and `cron`, or
 * `timing` where they are read already.
 */
export interface ScheduleWish {
  readonly text: string
  /** The agent carries the text out as a task; without it the text is said as it is, and no model is asked. */
  readonly task: boolean
  readonly timing?: Timing
  /** A time in ISO 8601 or in words, such as `tomorrow at 9`. */
  readonly at?: string
  /** `30m`, `2h`, or words such as `monday and thursday at 8 until 5 may`. */
  readonly every?: string
  /** Five fields or an alias such as `@daily`. */
  readonly cron?: string
  /** IANA name. Default: the zone of the person. */
  readonly timezone?: string
}

/** Somebody in a chat who asks for a schedule there. */
export interface ScheduleAsker {
  readonly person: PersonId
  readonly role: Role
  readonly address: Address
  /** They alone read what is said there, where that is so. */
  readonly reader?: Reader
  /** Others are shown what is said in the session: there is nothing in it that is for this person alone. */
  readonly overheard?: true
  readonly agent: AgentId
  /** The session whose turn asks for them. */
  readonly session?: SessionId
  /** That turn. */
  readonly turn?: TurnId
  /** Everybody whose words led to it; of a command its sender alone. */
  readonly authors: readonly AuthorId[]
  /** Everybody whose messages that turn answers, where it is several people. */
  readonly askers?: readonly AuthorId[]
  /** Returns the web addresses in a text of the agent that a person here has written; of a command there is no such. */
  writtenIn?(this: void, text: string): Promise<readonly string[]>
  /** Ms since the epoch: when they asked. */
  readonly at: number
}

/** A schedule that was made in a chat, as people there see it. */
export interface ChatSchedule {
  readonly id: ScheduleId
  readonly text: string
  readonly task: boolean
  readonly creator: PersonId
  /** Everybody whose words may be in the text. */
  readonly authors: readonly AuthorId[]
  /** `Friday 27 November 2026 at 17:00 (Europe/Berlin)`, and `every 2 h, next …`. */
  readonly when: string
}

/**
 * Reminders and tasks that people make in chats, for the place where they ask. Each has at most the reach of whoever
 * asked and of all whose words led to it, looked up again at each run.
 */
export interface ChatSchedules {
  /**
   * Makes one and returns it. `key` names the request: one repeated after a crash makes nothing twice. Throws `invalid`
   * for a time that is not understood, over, or too often, and `conflict` for somebody who has too many.
   */
  create(wish: ScheduleWish, asker: ScheduleAsker, key: string): Promise<ChatSchedule>
  /** Returns those of this place that the asker may see, the next first. */
  list(asker: Pick<ScheduleAsker, 'person' | 'role' | 'address' | 'overheard'>): Promise<readonly ChatSchedule[]>
  /**
   * Ends one by its id. The returned one has no text where `list` would not name it. Undefined: the request `key` has
   * ended it before a crash. Throws `not_found`, and `forbidden` unless all whose words led to it are its maker or an
   * owner.
   */
  cancel(id: string, asker: ScheduleAsker, key: string): Promise<ChatSchedule | undefined>
  /**
   * Returns who asks by a call of a turn. Throws `forbidden` for a turn that no known person in a chat has begun, such
   * as the run of a schedule: schedules make no schedules.
   */
  askerOf(turn: TurnRef, callId: string): Promise<ScheduleAsker>
}
