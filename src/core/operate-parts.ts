import type { McpServerReport } from './mcp.ts'
import type { BudgetReport } from './operate-budgets.ts'
import type { DeliveryState } from './outbound.ts'

/** The parts of a daemon one by one, of which a status has the sum. Bounded by the configuration or by `limit`. */
export interface PartsOperator {
  channels(): Promise<readonly ChannelStatus[]>
  agents(): Promise<readonly AgentReport[]>
  /** Returns the tool servers of the configuration. */
  toolServers(): Promise<readonly McpServerReport[]>
  /** Returns those of everybody who has spent in the present periods, the fullest first; `limit` 1-200. */
  budgets(limit: number): Promise<readonly BudgetReport[]>
  /** Newest first. `limit` 1-200, else `invalid`. */
  deliveries(query: DeliveryQuery): Promise<DeliveryPage>
}

export interface AgentReport {
  readonly id: string
  readonly model: string
  /** The models that answer where that one fails, in order. */
  readonly fallback: readonly string[]
  /** The groups of tools that it may use. */
  readonly tools: readonly string[]
  /** The last failures of its models that were not followed by an answer. */
  readonly troubles: readonly ModelTrouble[]
}

export interface DeliveryQuery {
  readonly limit: number
  /** The id of a delivery: the page begins behind it. */
  readonly after?: string | undefined
  readonly state?: DeliveryState | undefined
  /** By session id. */
  readonly session?: string | undefined
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryReport[]
  /** Names the next page; absent on the last. */
  readonly next?: string
}

export interface DeliveryReport extends ListedDelivery {
  readonly class: string
  readonly session?: string
  /** Real attempts. */
  readonly attempt: number
  /** The platform's id of the message. */
  readonly messageId?: string
}

/** A server of models, and how it does; of one that `models` does not have there is only the name. */
export interface ModelServerReport {
  readonly name: string
  /** The API that it speaks. */
  readonly kind?: string
  /** Host and port. */
  readonly host?: string
  /** The agents whose models, or those in their place or for summaries, are on it. */
  readonly agents: readonly string[]
  /** The traits that were learnt since the start, in clauses without a subject, by the model's name there. */
  readonly learnt: readonly { readonly model: string; readonly traits: readonly string[] }[]
  /** The failures of its models that were not followed by an answer. */
  readonly troubles: readonly ServerTrouble[]
}

/** One failure, with all models that it is the last of; each name as it is there. */
export interface ServerTrouble extends Omit<ModelTrouble, 'model'> {
  readonly models: readonly string[]
}

export interface ModelTrouble {
  readonly model: string
  readonly at: number
  readonly code: string
  readonly cause: string
  readonly remedy: string
}

export interface ChannelStatus {
  readonly channel: string
  readonly account: string
  readonly status: 'starting' | 'up' | 'down'
  readonly detail?: string
  readonly username?: string
  /** The transport in words for people: `by polling`. */
  readonly receives?: string
  readonly lastProofAt?: number
  /** The last trouble that kept it from receiving, kept after it was mended. */
  readonly lastTrouble?: { readonly detail: string; readonly at: number }
  readonly hints: readonly string[]
  /** Events that were received and not understood, by kind. */
  readonly unknown: Readonly<Record<string, number>>
}

export interface ListedDelivery {
  readonly id: string
  readonly address: string
  /** The name by which people know the place; absent where none is known, and from an older daemon. */
  readonly title?: string
  readonly state: string
  readonly reason?: string
  readonly traceId: string
}
