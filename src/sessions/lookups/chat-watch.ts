import { type Address, formatAddress } from '../../core/address.ts'
import type { BotSpending } from '../../core/bot-budget.ts'
import type { Clock } from '../../core/clock.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { Logger } from '../../core/logger.ts'
import type { RoutingPolicy } from '../../core/policy.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { Store } from '../../store/store.ts'
import type { StartedTurn } from '../turns/started-turn.ts'
import { BotTurns } from './bot-turns.ts'
import { createFollowedThreads } from './followed-threads.ts'

/**
 * The recent activity in the chats as far as it affects the next decision there. It is in memory and rebuilt at start.
 */
export interface ChatWatch {
  follows(thread: Address, at: number): boolean
  botSpending(chat: Address, at: number): BotSpending
  /** Returns the chats whose bots are not answered now, for the operator. */
  botsHeld(): readonly string[]
  /**
   * Called when a message was decided. A commit that fails later does no harm: the platform delivers the message again.
   */
  decided(dispatch: Dispatch, decision: Decision): void
  ended(turn: StartedTurn, result: TurnResult): void
  /** Called when another policy is in force. */
  policyChanged(): Promise<void>
}

export interface ChatWatchDeps {
  readonly read: Store['read']
  readonly clock: Clock
  /** The holder of the policy in force, which may change. */
  readonly policies: { readonly policy: RoutingPolicy }
  readonly logger: Logger
}

export async function createChatWatch({ read, clock, policies, logger }: ChatWatchDeps): Promise<ChatWatch> {
  const follows = () => policies.policy.access.groups.some(({ followThreads }) => followThreads)
  const threads = createFollowedThreads(read, follows)
  await threads.find()
  const bots = new BotTurns(() => policies.policy.botBudget)
  if (policies.policy.access.groups.some(({ bots = 'ignore' }) => bots !== 'ignore')) await replayBots(read, bots)
  return {
    follows: threads.follows,
    policyChanged: threads.find,
    botSpending: (chat, at) => bots.spending(chat, at),
    botsHeld: () => bots.exhausted(clock.now()),
    decided(dispatch, decision) {
      threads.decided(dispatch, decision)
      if (!bots.decided(dispatch, decision)) return
      const { traceId, event } = dispatch
      logger.warn('Bots of a chat are not answered until a person speaks or it is quiet', {
        traceId,
        chat: formatAddress(event.address),
        ...bots.spending(event.address, dispatch.receivedAt),
      })
    },
    ended(turn, result) {
      threads.ended(turn, result, clock.now())
      bots.ended(turn.reply.address, turn.traceId, result.usage)
    },
  }
}

/** The most messages searched at start for earlier messages of bots. */
const LOOK_BACK = 5_000

async function replayBots(read: Store['read'], bots: BotTurns): Promise<void> {
  for (const { dispatch, decision, turnId } of (await read.inbox.recent(LOOK_BACK)).toReversed()) {
    bots.decided(dispatch, decision)
    if (dispatch.event.sender.kind !== 'bot' || turnId === undefined) continue
    // A turn that cannot be read is not counted: the start has to succeed.
    const turn = await read.turns.get(turnId).catch(() => undefined)
    if (turn) bots.ended(turn.reply.address, turn.traceId, turn.usage)
  }
}
