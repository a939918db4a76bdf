import type { LastBackup } from './backup.ts'
import type { McpServerReport } from './mcp.ts'
import type { AdmissionOperator } from './operate-admissions.ts'
import type { ApprovalOperator } from './operate-approvals.ts'
import type { ArchiveOperator, DownloadOperator } from './operate-archives.ts'
import type { BudgetReport } from './operate-budgets.ts'
import type { ChatOperator } from './operate-chat.ts'
import type { ConfigOperator } from './operate-config.ts'
import type { LiveEvents } from './operate-events.ts'
import type { ForgettingOperator, RetentionLimit } from './operate-forgetting.ts'
import type { HealthOperator } from './operate-health.ts'
import type { HookOperator } from './operate-hooks.ts'
import type { MemoryOperator } from './operate-memory.ts'
import type { NodeOperator } from './operate-nodes.ts'
import type { NotificationOperator, OutboxOperator, RestorationReport } from './operate-outbox.ts'
import type { ChannelStatus, ListedDelivery, ModelServerReport, PartsOperator } from './operate-parts.ts'
import type { PeopleOperator } from './operate-people.ts'
import type { ScheduleOperator } from './operate-schedules.ts'
import type { SessionOperator } from './operate-sessions.ts'
import type { TokenOperator } from './operate-tokens.ts'
import type { Spending } from './spending.ts'

/**
 * Answers an operator's questions, over the local socket or from a store that no daemon holds. Every shape here is
 * plain JSON, as the API and `--json` print it. Times are ms since the epoch.
 */
export interface OperatorService {
  status(): Promise<StatusReport>
  /**
   * By a link to the message, or by inbox id, trace id or platform message id, newest first. A message of ours stands
   * for those it answered. An address names the last message there, `last` the last one anywhere. Empty if nothing of
   * that name was ever received or sent.
   */
  why(name: string): Promise<readonly WhyReport[]>
  /** Returns why a message of that name may never have been received, likeliest first, each with its remedy. */
  unseen(name: string): Promise<readonly string[]>
  readonly sessions: SessionOperator
  readonly archives: ArchiveOperator
  readonly tokens: TokenOperator
  readonly schedules: ScheduleOperator
  readonly notifications: NotificationOperator
  readonly people: PeopleOperator
  readonly admissions: AdmissionOperator
  readonly approvals: ApprovalOperator
  readonly outbox: OutboxOperator
  readonly memory: MemoryOperator
  readonly forgetting: ForgettingOperator
  readonly config: ConfigOperator
  readonly parts: Pick<PartsOperator, 'toolServers'>
}

/** The answers of a daemon, with those that are streamed as files, and those that only programs ask for. */
export interface ServedOperator extends OperatorService {
  readonly archives: ArchiveOperator & DownloadOperator
  readonly hooks: HookOperator
  readonly nodes: NodeOperator
  readonly health: HealthOperator
  readonly parts: PartsOperator
}

/** Everything that the API serves: the answers of a daemon, its live streams, and clients of OpenAI's API. */
export interface ApiService extends ServedOperator {
  readonly live: LiveEvents
  readonly chat: ChatOperator
}

/** Begins what is said of a message whose record was deleted for its age. */
export const AGED_OUT = 'Its record has aged out'

/** A way to become the owner, by one account, for whoever comes first with the code. */
export interface ClaimWay extends Pick<ChannelStatus, 'channel' | 'account'> {
  readonly username: string
  /** The command that is sent to the bot in a direct chat. */
  readonly command: string
  /** The address that opens that chat and sends it, where the platform has such addresses. */
  readonly link?: string
}

export interface StatusReport {
  readonly version: string
  /** Absent when the store was read without a daemon. */
  readonly startedAt?: number
  readonly channels: readonly ChannelStatus[]
  readonly ownerKnown: boolean
  /** The ways to become the owner, one for each account that has been up; only while there is none. */
  readonly claims: readonly ClaimWay[]
  readonly models: readonly string[]
  /** The servers of models, then names of servers that models in use have and `models` has not; none of older daemons. */
  readonly modelServers?: readonly ModelServerReport[]
  /** The tool servers that agents have; absent when the store was read without a daemon, and of older daemons. */
  readonly toolServers?: readonly McpServerReport[]
  /** Chats whose other bots have used up their budget and are not answered now. */
  readonly botsHeld: readonly string[]
  readonly sessions: number
  readonly runningTurns: number
  /** Messages that wait for a turn. */
  readonly waiting: number
  /** The decisions that wait for an owner since the database was restored; absent if there are none. */
  readonly restored?: Omit<RestorationReport, 'unanswered'>
  /** The cost of all turns since midnight; absent in the answers of older daemons. */
  readonly spentToday?: Spending
  /** The budgets of which something is spent, the fullest first, at most 20; absent if there are none. */
  readonly budgets?: readonly BudgetReport[]
  /** The age limits of conversations; absent if there are none, and when the store was read without a daemon. */
  readonly retention?: readonly RetentionLimit[]
  /** The last message that people said, and the last one that was sent; absent where there is none. */
  readonly lastIn?: LastMessage
  readonly lastOut?: LastMessage
  /** The last backup; absent: none was ever tried. */
  readonly backup?: LastBackup
  /** Outbox rows by state. */
  readonly outbox: Readonly<Record<string, number>>
  /** Sends whose outcome nobody could know, newest first: for the operator to look at. */
  readonly uncertain: readonly ListedDelivery[]
  /** Messages that were refused for good or grew too old, newest first. */
  readonly undelivered: readonly ListedDelivery[]
}

/** The time and place of a message, without its words. */
export interface LastMessage {
  readonly at: number
  readonly address: string
  /** The name by which people know the place; absent where none is known. */
  readonly title?: string
}

/** The stored decision trace of one message. */
export interface WhyReport {
  /**
   * One sentence: what was decided, why, and the command or setting that changes it. A daemon that has not been started
   * again since an upgrade gives none.
   */
  readonly summary?: string
  readonly inboxId: string
  readonly traceId: string
  readonly receivedAt: number
  readonly event: string
  readonly messageId?: string
  readonly address: string
  /** The name by which people know the place; absent where none is known, and from an older daemon. */
  readonly title?: string
  readonly sender: { readonly id: string; readonly name?: string }
  readonly decision: string
  readonly reason: string
  readonly steps: readonly WhyStep[]
  /** The verdict of the check before its turn, in words. */
  readonly precheck?: string
  /** The reason that the model gave for saying nothing. */
  readonly silence?: string
  /** The budget that its turn did not fit, and when that begins anew, in words. */
  readonly budget?: string
  /** The part of the conversation that its model has read, in words. */
  readonly context?: string
  /** The questions to owners about the calls of its turn, each with the answer, in words. */
  readonly questions?: readonly string[]
  /** Tool calls of its turn that the host refused. */
  readonly denied?: readonly { readonly tool: string; readonly reason: string }[]
  readonly session?: string
  readonly turn?: string
  /** The outcome; `waiting` or `claimed` while an answer is still owed. */
  readonly outcome: string
  /** The failure of its turn and the remedy for it. */
  readonly failure?: { readonly code: string; readonly cause: string; readonly remedy: string }
  /** The deliveries of the message, part by part. */
  readonly deliveries: readonly { readonly state: string; readonly messageId?: string; readonly reason?: string }[]
}

export interface WhyStep {
  readonly stage: string
  readonly verdict: 'pass' | 'stop'
  readonly because: string
  /** The setting that would flip it. */
  readonly config?: string
}
