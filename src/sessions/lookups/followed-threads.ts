import { LRUCache } from 'lru-cache'
import { type Address, formatAddress } from '../../core/address.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import { stripSilence } from '../../core/silence.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store } from '../../store/store.ts'
import type { StartedTurn } from '../turns/started-turn.ts'

/** A thread that has been quiet for this long is not followed any more. */
const QUIET_MS = 24 * 3_600_000
/** The most threads remembered; one more drops the one that was quiet longest. */
const MOST_THREADS = 5_000
/** The most messages searched at start for threads the agent was part of. */
const LOOK_BACK = 5_000

/**
 * The threads the agent is part of: it was addressed there, or answered there. They are in memory, because every
 * message of a thread asks, and are found again in the inbox at start.
 */
export interface FollowedThreads {
  follows(thread: Address, at: number): boolean
  decided(dispatch: Dispatch, decision: Decision): void
  ended(turn: StartedTurn, result: TurnResult, at: number): void
  /** Looks in the inbox for threads it does not know; called at start, and once a changed policy follows threads. */
  find(): Promise<void>
}

/** Reads and keeps nothing unless `enabled`: some rule follows threads at this moment. */
export function createFollowedThreads(read: Store['read'], enabled: () => boolean): FollowedThreads {
  const lastSaid = new LRUCache<string, number>({ max: MOST_THREADS })

  const join = (thread: Address, at: number): void => {
    if (!enabled() || thread.topic === undefined) return
    const name = formatAddress(thread)
    if ((lastSaid.peek(name) ?? 0) <= at) lastSaid.set(name, at)
  }
  const follows = (thread: Address, at: number): boolean => {
    const last = lastSaid.peek(formatAddress(thread))
    return last !== undefined && at - last < QUIET_MS
  }

  return {
    follows,
    async find() {
      if (!enabled()) return
      for (const { dispatch } of (await read.inbox.recent(LOOK_BACK)).filter(joins).reverse()) {
        join(dispatch.event.address, dispatch.receivedAt)
      }
    },
    decided({ event: { address }, receivedAt, posted }, decision) {
      if (!enabled() || posted || !('addressed' in decision)) return
      if (isCall(decision) || follows(address, receivedAt)) join(address, receivedAt)
    },
    ended({ reply }, result, at) {
      if (reply.elsewhere !== 'only' && result.kind === 'final' && stripSilence(result.text).text.trim() !== '')
        join(reply.address, at)
    },
  }
}

function joins({ dispatch, decision, outcome }: InboxRow): boolean {
  if (dispatch.posted) return false
  return isCall(decision) || (decision.kind === 'run' && outcome === 'answered')
}

function isCall(decision: Decision): boolean {
  return decision.kind === 'run' && decision.addressed
}
