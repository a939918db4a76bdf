import type { ApiUser } from './api-types.ts'
import type { UpdateEntry } from './ledger-entries.ts'
import { Poller } from './poller.ts'
import { UpdateQueue } from './update-queue.ts'
import { type RedeliveryOptions, Webhook } from './webhook.ts'

export interface BotOptions {
  /** `<bot id>:<secret>`, as given out by the platform. */
  token: string
  firstName?: string
  username?: string
  /** False (the platform's default): privacy mode, the bot sees only what is meant for it in groups. */
  canReadAllGroupMessages?: boolean
  /** Default 100001. */
  firstUpdateId?: number
}

/** What the server keeps of one bot account. */
export interface BotState {
  readonly token: string
  readonly user: ApiUser
  canReadAllGroupMessages: boolean
  readonly queue: UpdateQueue
  readonly poller: Poller
  /** As last asked for; null: the default set. */
  allowedUpdates: readonly string[] | null
  readonly webhook: Webhook
  /** There is news: whoever receives is told. */
  wake(): void
  /** Commands by scope and language. */
  readonly commands: Map<string, unknown>
  /** Ids of button presses that were not answered yet. */
  readonly openPresses: Set<string>
}

interface BotParts {
  readonly now: () => number
  readonly record: (entry: UpdateEntry) => void
  readonly redelivery: RedeliveryOptions
}

export function createBot(options: BotOptions, { now, record, redelivery }: BotParts): BotState {
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
