import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { AccountId, ChannelId, InboxId, SessionId, TurnId } from '../core/ids.ts'
import type { InboxOutcome } from '../core/turn-end.ts'

/** `waiting`: owes a turn or a command. `claimed`: bound to a turn that has not ended. `done`: has its outcome. */
export type InboxState = 'waiting' | 'claimed' | 'done'

export interface InboxRow {
  readonly id: InboxId
  readonly dispatch: Dispatch
  readonly decision: Decision
  readonly sessionId?: SessionId
  readonly turnId?: TurnId
  readonly state: InboxState
  readonly outcome?: InboxOutcome
}

export interface InboxReader {
  get(id: InboxId): Promise<InboxRow | undefined>
  /** Rows that wait for a turn of this session, oldest first. */
  waiting(sessionId: SessionId, limit: number): Promise<readonly InboxRow[]>
  /** Returns the sessions with waiting rows, oldest first: what the start has to continue. */
  sessionsWaiting(): Promise<readonly SessionId[]>
  /** Rows that wait for a turn, in all sessions; commands wait for none. */
  waitingCount(): Promise<number>
  /** Waiting rows that are commands, oldest first. */
  commandsWaiting(): Promise<readonly InboxRow[]>
  ofTurn(turnId: TurnId): Promise<readonly InboxRow[]>
  /** The message an account was given under this event key. */
  byKey(channel: ChannelId, account: AccountId, eventKey: string): Promise<InboxRow | undefined>
  /** By inbox id, trace id or platform message id, newest first, at most 20 (`parley why`). */
  find(name: string): Promise<readonly InboxRow[]>
  /**
   * By the platform's message id, in a chat or in any of a channel, newest first, at most 200: each chat has numbers of
   * its own.
   */
  ofMessage(channel: ChannelId, messageId: string, chat?: string): Promise<readonly InboxRow[]>
  /**
   * Returns what was said on a channel at a time, ms since the epoch, oldest first, edits by when their message was;
   * nothing where nobody has asked since then that something is forgotten.
   */
  saidAt(channel: ChannelId, at: number): Promise<readonly InboxRow[]>
  /** Does so for the pieces of what was sent as one at about this time: `of` is their name. */
  piecesOf(channel: ChannelId, of: string, at: number): Promise<readonly InboxRow[]>
  /** Returns what was not answered because the database was put back, newest first. */
  unanswered(limit: number): Promise<readonly InboxRow[]>
  /** The newest first, after so many that are left out. */
  recent(limit: number, offset?: number): Promise<readonly InboxRow[]>
  /**
   * Returns the texts of one platform message that wait for a turn, in any session: itself, and edits that are
   * answered.
   */
  waitingTexts(channel: ChannelId, messageId: string): Promise<readonly InboxRow[]>
  /** Every row of one platform message in this session, its edits included. */
  inSession(sessionId: SessionId, messageId: string): Promise<readonly InboxRow[]>
}

export type NewInboxRow = InboxRow

export interface InboxWriter {
  /** False when `(channel, account, eventKey)` is already there: a repeated delivery, nothing was written (S43). */
  add(row: NewInboxRow): Promise<boolean>
  /** Binds waiting rows to a turn. Returns how many were still waiting. */
  claim(ids: readonly InboxId[], turnId: TurnId): Promise<number>
  /** Ends rows that wait and cannot be read: nothing else would, and a session waits for so many and no more. */
  giveUpUnreadable(): Promise<readonly InboxId[]>
  /** Ends one row that never had a turn. */
  settle(id: InboxId, outcome: InboxOutcome): Promise<void>
  /** Ends every row of a session that still waits, and returns how many (`/stop`). */
  settleWaiting(sessionId: SessionId, outcome: InboxOutcome): Promise<number>
  /**
   * Has the messages of a turn that has ended wait for another one, in this session. Returns how many there are
   * (`/retry`).
   */
  reopen(turnId: TurnId, sessionId: SessionId): Promise<number>
  /** Puts a dispatch in the place of the stored one: the same without its text (S41). */
  replaceDispatch(id: InboxId, dispatch: Dispatch): Promise<void>
}
