import type { MessageName } from './message.ts'
import type { Usage } from './model.ts'

/** The condition that started a checkpoint (S35). A further one needs a migration: the table of owed ones checks it. */
export type CheckpointReason = 'manual' | 'new_session' | 'turn_limit' | 'idle'
export const CHECKPOINT_REASONS: readonly CheckpointReason[] = ['manual', 'new_session', 'turn_limit', 'idle']

/** A checkpoint that succeeded. The next one covers the events after those that it covers (S34). */
export interface CheckpointData {
  readonly reason: CheckpointReason
  readonly model: string
  readonly usage: Usage
  /** The last event it covers, as the distance from this event: it holds as well in a copy of the log. */
  readonly back: number
  /** The numbers of the entries it wrote, changed and removed. */
  readonly entries: readonly number[]
  /** The working memory of the session from here on; absent: it has none. */
  readonly working?: string
  /** The messages that the working memory is made of: it is gone with any of them. */
  readonly sources?: readonly MessageName[]
}
