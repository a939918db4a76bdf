import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { TurnResult } from '../core/turn.ts'
import type { Store } from '../store/store.ts'
import { createFollowedThreads } from './followed-threads.ts'
import type { StartedTurn } from './record-turn.ts'

/** What went on in the chats lately, as far as it decides about the next message there. In memory, rebuilt at start. */
export interface ChatWatch {
  follows(thread: Address, at: number): boolean
  /** A message was decided. That its commit may still fail does no harm: the platform gives it again. */
  decided(dispatch: Dispatch, decision: Decision): void
  ended(turn: StartedTurn, result: TurnResult): void
}

export interface ChatWatchDeps {
  readonly read: Store['read']
  readonly clock: Clock
  readonly policy: RoutingPolicy
}

export async function createChatWatch({ read, clock, policy }: ChatWatchDeps): Promise<ChatWatch> {
  const follows = policy.access.groups.some(({ followThreads }) => followThreads)
  const threads = await createFollowedThreads(read, follows)
  return {
    follows: threads.follows,
    decided: (dispatch, decision) => threads.decided(dispatch, decision),
    ended: (turn, result) => threads.ended(turn, result, clock.now()),
  }
}
