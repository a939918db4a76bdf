import { createHash } from 'node:crypto'
import type { Address } from './address.ts'
import {
  type AgentId,
  type PersonId,
  type ScheduleId,
  type SessionId,
  type TraceId,
  type TurnId,
  toScheduleId,
} from './ids.ts'
import type { Reader } from './outbound.ts'
import type { AuthorId } from './platform-id.ts'

/**
 * When a schedule is due: at the wall times of five fields or an alias such as `@daily`, once at an instant, or every
 * so many ms from an instant on; whole days are counted by the calendar of the zone, so that the time of day stays.
 * `until`: the last instant at which it may be due. Instants are ms since the epoch.
 */
export type Timing = { readonly timezone: string } & (
  | { readonly cron: string; readonly from?: number; readonly until?: number }
  | { readonly at: number }
  | { readonly every: number; readonly from: number; readonly until?: number }
)

/** The task of a schedule. Plain JSON, stored unchanged. */
export interface ScheduledTask {
  /** The default agent if absent. */
  readonly agent?: AgentId
  readonly prompt: string
  /** The prompt is said as it is, and no model is asked. */
  readonly said?: true
  /** The conversation whose messages since the last completed run go with the prompt; its topics included. */
  readonly digestOf?: Address
  readonly deliverTo: Address
  /** The one person it is meant for, where that is so (`OutboundMessage.reader`). */
  readonly reader?: Reader
  /** Everybody whose words had a part in it, where a turn has made it: its runs may do no more than all of them. */
  readonly authors?: readonly AuthorId[]
  /** Everybody whose messages that turn answered, where it was several people: its runs are asked for by all of them. */
  readonly askers?: readonly AuthorId[]
  /**
   * The web addresses in the prompt that a person had written (`core/web-address.ts`), where a turn has made it: the
   * words are those of the agent. Absent: the prompt is a person's.
   */
  readonly addresses?: readonly string[]
  /** The session whose turn has made it: rules for that place hold in its runs. */
  readonly madeIn?: SessionId
  /** The hash of the request that has made it, where somebody in a chat has. */
  readonly request?: string
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
}

/** A task and its times, the zone an IANA name. */
export type ScheduleDefinition = ScheduledTask & Timing

/** A task as the configuration has it. */
export type CronDefinition = ScheduledTask & { readonly cron: string; readonly timezone: string }

/**
 * Decides about slots found more than a minute late. `skip`: none runs. `once`: one run for all of them, unless a slot
 * that is on time covers them. `all`: a run for each of the newest `most`.
 */
export type MissedPolicy =
  | { readonly kind: 'skip' }
  | { readonly kind: 'once' }
  | { readonly kind: 'all'; readonly most: number }

/**
 * A slot that comes while an earlier run of its schedule has not ended: left out, or run after it, a hundred at most.
 */
export type OverlapPolicy = 'skip' | 'queue'

/** Runs of one schedule that may wait. */
export const MOST_RUNS = 100

/** `0 8 * * 1-5`, `at 2026-11-27T16:00:00.000Z`, `every 30 min`. */
export function formatTiming(timing: Timing): string {
  if ('cron' in timing) return timing.cron
  if ('at' in timing) return `at ${new Date(timing.at).toISOString()}`
  return `every ${timing.every / 60_000} min`
}

/** `skip`, `once`, `all(3)`. */
export function formatMissed(policy: MissedPolicy): string {
  return policy.kind === 'all' ? `all(${policy.most})` : policy.kind
}

/** The inverse; undefined for another text. */
export function parseMissed(text: string): MissedPolicy | undefined {
  if (text === 'skip' || text === 'once') return { kind: text }
  const most = Number(/^all\(([1-9]\d{0,2})\)$/.exec(text)?.[1])
  return most <= MOST_RUNS ? { kind: 'all', most } : undefined
}

/** Returns the hash of a request by its key: the command, or the call of a tool. */
export function requestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Returns the id of what a request has made, short for people to type. Where one is taken, it has the next. */
export function idOfRequest(request: string, no = 0): ScheduleId {
  const hash = no === 0 ? request : requestOf(`${request} ${no}`)
  return toScheduleId(`r${BigInt(`0x${hash}`).toString(36).slice(-6)}`)
}

/** Returns the key of the request that a turn makes by a call of a tool. */
export function callKey(turn: TurnId, callId: string): string {
  return `${turn} ${callId}`
}

/** A schedule as the configuration has it. */
export interface ConfiguredSchedule {
  readonly id: ScheduleId
  readonly definition: CronDefinition
}

/** A schedule as it is stored. Times are ms since the epoch. */
export interface Schedule {
  readonly id: ScheduleId
  /** `config`: written by the operator, replaced at each start. `command`: made by a person, kept until removed. */
  readonly source: 'config' | 'command'
  readonly definition: ScheduleDefinition
  /** The person whose authority it has; absent: the operator's, which is an owner's. */
  readonly creator?: PersonId
  readonly createdAt: number
  readonly updatedAt: number
  readonly paused: boolean
  /** Every slot up to this time has been decided. */
  readonly evaluatedTo: number
}

export type NewSchedule = Pick<Schedule, 'id' | 'source' | 'definition' | 'creator'>

/**
 * `claimed`: owes a run, or is running. `done`: the run ended with an answer or with silence. `failed`: it ended
 * without. `skipped`: a policy left it out.
 */
export type SlotState = 'claimed' | 'done' | 'skipped' | 'failed'

/** One slot of a schedule that was decided; there is never a second row for the same time. */
export interface ScheduleSlot {
  readonly scheduleId: ScheduleId
  readonly slotAt: number
  readonly state: SlotState
  /** When it was decided. */
  readonly at: number
  /** The trace id of its run; absent for a skipped slot. */
  readonly traceId?: TraceId
  readonly turnId?: TurnId
  /** `answered`, `silent`, `missed`, `overlap`, `failed: model_auth`, … */
  readonly outcome?: string
  /** The position up to which its digest has read. */
  readonly reading?: DigestReading
  readonly endedAt?: number
}

/** By session: the sequence number of the last event a digest has read. */
export type DigestReading = Readonly<Record<SessionId, number>>

export type NewSlot = Omit<ScheduleSlot, 'turnId' | 'reading' | 'endedAt'>

export interface SlotEnd {
  readonly state: Exclude<SlotState, 'claimed'>
  readonly outcome: string
  readonly at: number
  readonly turnId?: TurnId
}
