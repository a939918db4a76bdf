import type { Address } from '../core/address.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import type { ToolRule } from '../core/approval.ts'
import type { AudioLimits } from '../core/audio.ts'
import type { BackupSettings } from '../core/backup.ts'
import type { BudgetConfig, OnExceed } from '../core/budget.ts'
import type { Hook, HookAddress, HookCommand } from '../core/hook.ts'
import type { AgentId, ChannelId } from '../core/ids.ts'
import type { McpAddress, McpProgram, McpServer } from '../core/mcp.ts'
import type { FileLimits } from '../core/media.ts'
import type { CheckpointSettings } from '../core/memory.ts'
import type { ServerAccess } from '../core/model-server.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { RetentionSettings } from '../core/retention.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'
import type { Dimension } from '../core/session.ts'
import type { ToolResultLimits } from '../core/turn.ts'
import type { TurnCaps } from '../core/turn-cap.ts'
import type { Secret } from './secrets.ts'

/** The configuration as the daemon uses it: parsed once, defaults filled in, references resolved, frozen. */
export interface Config {
  /** The file it came from; absent when the environment alone was enough. */
  readonly file?: string
  /** Root has read it beside the service of the machine, which alone runs what it names, as a user of its own. */
  readonly ofService?: true
  readonly agents: readonly AgentProfile[]
  /** The servers of models, by name. */
  readonly models: Readonly<Record<string, ModelServer>>
  /** Absent: nothing is transcribed or spoken. */
  readonly audio?: AudioSettings
  /** Groups of the sessions of clients that have a model of their own. */
  readonly workspaces?: readonly { readonly name: string; readonly model: string }[]
  readonly channels: Readonly<Record<ChannelId, ChannelBlock>>
  /** Accounts that cannot come up for want of their secret. */
  readonly down: readonly DownAccount[]
  readonly routing: RoutingPolicy
  readonly session: SessionConfig
  /** Absent: nothing is counted. */
  readonly budgets?: BudgetConfig
  /** Absent: `DEFAULT_SESSION_TOOLS`. */
  readonly sessionTools?: SessionToolSettings
  readonly toolResults?: ToolResultLimits
  /** Absent: `DEFAULT_FILE_LIMITS`. */
  readonly media?: FileLimits
  readonly web?: WebSettings
  readonly mcp?: readonly McpSettings[]
  readonly ownTools?: readonly OwnToolsPath[]
  readonly hooks?: readonly HookSettings[]
  /** Absent: nothing listens on TCP. */
  readonly http?: ApiSettings
  /** The first rule that fits decides whether a call needs the yes of a person. */
  readonly toolPolicy?: readonly ToolRule[]
  readonly schedules: readonly ConfiguredSchedule[]
  /** The age limits of conversations; absent: they are kept for good. */
  readonly retention?: RetentionSettings
  readonly store: StoreSettings
  /** Absent: the daemon makes no copies by itself. */
  readonly backup?: BackupSettings
  readonly logging: { readonly level: LogLevel; readonly pretty: boolean }
  /** The values under names such as `token`, which are kept out of what is stored and shown to a model (C29). */
  readonly secrets?: readonly Secret[]
  /** The folder of the files in `scripted/<file>`. */
  readonly scriptFolder: string
  /** The folder of the database and the local socket. */
  readonly dataDir: string
  /** Warnings for the operator, each beginning with its path. */
  readonly warnings: readonly string[]
}

/** A server of models; it has a key, an address of its own, or a reason why its key cannot be had. */
export interface ModelServer extends ServerAccess {
  readonly apiKey?: Secret
}

/** The API on TCP. */
export interface ApiSettings {
  readonly host: string
  readonly port: number
  /** Further names by which it is reached. */
  readonly hosts: readonly string[]
  /** Web pages of others that may use it. */
  readonly origins: readonly string[]
  /** The most requests of one token in a minute. */
  readonly requestsPerMinute?: number
  /** The hooks by which programs of others call in. */
  readonly hooks?: readonly InboundHookSettings[]
}

/** A hook by which a program calls in. */
export interface InboundHookSettings {
  readonly name: string
  readonly secret: Secret
  /** The form in which a call is signed. */
  readonly signature: 'parley' | 'github'
  readonly agent?: AgentId
  readonly prompt?: string
  readonly deliverTo?: Address
  /** The sessions that a call may name. */
  readonly sessions: readonly string[]
}

export interface StoreSettings {
  readonly path: string
  /** Days for which what was refused or ignored is kept; 30 if absent. */
  readonly keepRefusedDays?: number
  /** The store is encrypted with it. */
  readonly key?: Secret
  /** A key is configured and cannot be had here, for this reason: only a running daemon can answer. */
  readonly keyAbsent?: string
}

export interface ChannelBlock {
  /** By account name; each parsed by the channel's own schema. */
  readonly accounts: Readonly<Record<string, unknown>>
  readonly dimensions?: readonly Dimension[]
}

export interface DownAccount {
  readonly channel: ChannelId
  readonly account: string
  /** The missing part and its remedy. */
  readonly reason: string
}

export interface SessionConfig {
  readonly queue: { readonly max: number; readonly busy: 'queue' | 'steer' | 'interrupt' }
  /**
   * Turns for people whom nobody let in by name: at once for all of them and for one, and waiting; 8, 1, 16 if absent.
   */
  readonly publicTurns?: { readonly atOnce: number; readonly perPerson: number; readonly waiting: number }
  readonly turnCap?: TurnCaps
  /** US dollars that a session may cost in all (C33); absent: no cap. */
  readonly maxCost?: number
  /** `stop` if absent. */
  readonly onExceed?: OnExceed
  /** Messages of earlier turns that the model is shown (C14); 98 if absent. */
  readonly maxMessages?: number
  /** When checkpoints start by themselves; what is absent as in `DEFAULT_CHECKPOINTS`. */
  readonly checkpoint?: Partial<CheckpointSettings>
  /** Messages that one answer becomes at most; 20 if absent. */
  readonly answerParts?: number
  /** An answer of more messages than this goes out as a file; never if absent. */
  readonly answerAsFile?: number
  /** Days without a word after which a session counts as inactive (S12); 3 if absent. */
  readonly staleDays?: number
}

export interface AudioSettings {
  /** With the path before `/audio/…`. */
  readonly baseUrl: string
  readonly apiKey?: Secret
  readonly transcribe?: { readonly model: string; readonly language?: string }
  readonly speak?: { readonly model: string; readonly voice: string; readonly format: string }
  readonly limits: AudioLimits
}

export interface WebSettings {
  /** Hosts whose pages are fetched without a question: names, or `*.example.org` for all below one. */
  readonly allowedHosts: readonly string[]
  /** Absent: there is no tool that searches. */
  readonly search?: WebSearchSettings
}

export interface WebSearchSettings {
  readonly provider: 'searxng' | 'brave' | 'tavily'
  /** The address of the service, where it is not the usual one. */
  readonly url?: string
  readonly apiKey?: Secret
}

/** A hook, its secrets covered. */
export interface HookSettings extends Omit<Hook, 'at'> {
  readonly at:
    | (Omit<HookCommand, 'env'> & { readonly env: Readonly<Record<string, Secret>> })
    | (Omit<HookAddress, 'secret'> & { readonly secret: Secret })
}

/** A file with tools and commands of the operator's own; absolute. */
export interface OwnToolsPath {
  readonly name: string
  readonly path: string
}

/** A tool server; the values of its variables and headers are covered. */
export interface McpSettings extends Omit<McpServer, 'at'> {
  readonly at:
    | (Omit<McpProgram, 'env'> & { readonly env: Readonly<Record<string, Secret>> })
    | (Omit<McpAddress, 'headers' | 'login'> & {
        readonly headers: Readonly<Record<string, Secret>>
        readonly login?: Omit<NonNullable<McpAddress['login']>, 'clientSecret'> & { readonly clientSecret?: Secret }
      })
}

export interface SessionToolSettings {
  /** Agents whose session tools reach each other's sessions; none: each agent its own only (T32). */
  readonly agents: readonly AgentId[]
  /** Says what the tools may read where others see the answer: that conversation alone, or what the asker could. */
  readonly inGroups: 'here' | 'asker'
}

/** Each agent reaches its own sessions only, and reads nothing else where others see the answer. */
export const DEFAULT_SESSION_TOOLS: SessionToolSettings = { agents: [], inGroups: 'here' }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Returns what knows whether an address is on a channel of the configuration, also one that is down. */
export function isPlaceOf({ channels, down }: Config): (address: Address) => boolean {
  return ({ channel, account }) =>
    channels[channel]?.accounts[account] !== undefined ||
    down.some((one) => one.channel === channel && one.account === account)
}
