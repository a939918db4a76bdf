import type { ApiUser } from './api-types.ts'
import type { UpdateEntry } from './ledger-entries.ts'
import { Poller } from './poller.ts'
import { UpdateQueue } from './update-queue.ts'
import { type RedeliveryOptions, Webhook } from './webhook.ts'

export interface BotOptions {
  /** The token `<bot id>:<secret>`, in the platform's form. */
  token: string
  firstName?: string
  username?: string
  /** False for privacy mode, the platform's default: in groups the bot sees only messages meant for it. */
  canReadAllGroupMessages?: boolean
  /** False where @BotFather keeps it out of groups. Default true. */
  canJoinGroups?: boolean
  /** Default 100001. */
  firstUpdateId?: number
  /**
   * By how much its numbers of messages in groups, which each bot has for itself, are ahead of the world's.
   * Default: 2 more than those of the bot before it.
   */
  ahead?: number
}

/** The server's state of one bot account. */
export interface BotState {
  readonly token: string
  readonly user: ApiUser
  canReadAllGroupMessages: boolean
  canJoinGroups: boolean
  readonly ahead: number
  readonly queue: UpdateQueue
  readonly poller: Poller
  /** The set last asked for; null for the default one. */
  allowedUpdates: readonly string[] | null
  readonly webhook: Webhook
  /** Called when there is an update: notifies the receiver. */
  wake(): void
  /** Commands by scope and language. */
  readonly commands: Map<string, unknown>
  /** The ids of button presses that were not answered yet. */
  readonly openPresses: Set<string>
}

interface BotDeps {
  readonly now: () => number
  readonly record: (entry: UpdateEntry) => void
  readonly redelivery: RedeliveryOptions
}

export function createBot(options: BotOptions, { now, record, redelivery }: BotDeps): BotState {
  const id = Number(options.token.split(':')[0])
  const owner = { botId: id, now, firstUpdateId: options.firstUpdateId ?? 100_001 }
  const queue = new UpdateQueue(owner, record)
  const poller = new Poller(queue)
  const webhook = new Webhook({ botId: id, now, queue, record, ...redelivery })
  return {
    token: options.token,
    user: {
      id,
      is_bot: true,
      first_name: options.firstName ?? 'Parley',
      username: options.username ?? 'parley_bot',
    },
    canReadAllGroupMessages: options.canReadAllGroupMessages ?? false,
    canJoinGroups: options.canJoinGroups ?? true,
    ahead: options.ahead ?? 0,
    queue,
    poller,
    allowedUpdates: null,
    webhook,
    wake() {
      poller.wake()
      webhook.wake()
    },
    commands: new Map(),
    openPresses: new Set(),
  }
}
