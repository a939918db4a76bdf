import type { CheckpointData, CheckpointReason } from '../core/checkpoint.ts'
import type { AgentId, InboxId, ScopeKey, SessionId } from '../core/ids.ts'
import type { MemoryEntry } from '../core/memory.ts'

/** A message of which something is made: the platform's id, and the chat where a session joins several. */
export interface MessageRef {
  readonly messageId: string
  readonly chat?: string
}

/** Long-term memory. An entry is gone with its session. */
export interface MemoryReader {
  /** Returns the entries that these commands of people have made, as they read by now. */
  ofCommands(rows: readonly InboxId[]): Promise<readonly MemoryEntry[]>
  get(no: number): Promise<MemoryEntry | undefined>
  /** The newest of these sessions first. */
  newest(sessions: readonly SessionId[], limit: number): Promise<readonly MemoryEntry[]>
  /** Returns the sessions that have entries of this agent, of one scope where it is given. */
  sessions(agent: AgentId, scopeKey?: ScopeKey): Promise<readonly SessionId[]>
  /** All entries, the newest first, those with a number below `before` where it is given. */
  all(limit: number, before?: number): Promise<readonly MemoryEntry[]>
}

export type NewMemoryEntry = Omit<MemoryEntry, 'no'> & {
  /** Names the request that made it: one repeated makes nothing twice. */
  readonly request: string
  /** The messages it is made of: it is gone with any of them. */
  readonly sources: readonly MessageRef[]
}

export interface MemoryWriter {
  /** Returns the entry, or the one that this request had made. Throws `not_found` for an unknown session. */
  add(entry: NewMemoryEntry): Promise<MemoryEntry>
  /**
   * Replaces text and authors. The text of a model may hold all of the entry in whose place it stands, so its sources
   * are added; a person's own words are made of these alone. Returns false if there is none of that number.
   */
  change(no: number, changed: Pick<NewMemoryEntry, 'text' | 'authors' | 'by' | 'at' | 'sources'>): Promise<boolean>
  remove(no: number): Promise<boolean>
  /** Removes the entries that are made of a message; returns how many. */
  removeOf(session: SessionId, message: MessageRef): Promise<number>
  /** Removes the entries of a session, with what is indexed of it. */
  removeAll(session: SessionId): Promise<void>
}

/** The newest checkpoint of a session. */
export interface CheckpointPlace {
  /** The number of its event. */
  readonly seq: number
  readonly data: CheckpointData
}

/** A checkpoint that is owed: its condition was met, and its writes are not committed yet. */
export interface OwedCheckpoint {
  readonly sessionId: SessionId
  readonly reason: CheckpointReason
  /** Failed attempts. */
  readonly attempts: number
  /** The time of the next attempt, in ms since the epoch. */
  readonly notBefore: number
}

export interface CheckpointReader {
  owed(): Promise<readonly OwedCheckpoint[]>
  /**
   * Returns sessions that were active at `since` or later and have events after their newest checkpoint, the newest
   * first.
   */
  unread(since: number, limit: number): Promise<readonly SessionId[]>
}

export interface CheckpointWriter {
  /** Records that a session owes a checkpoint; an earlier record stays. Does nothing for an unknown session. */
  owe(session: SessionId, reason: CheckpointReason, at: number): Promise<void>
  /** Sets the time of the next attempt, after a failure. */
  putOff(session: SessionId, notBefore: number): Promise<void>
  /** Removes the record: the checkpoint is done, or there was nothing to do. */
  settle(session: SessionId): Promise<void>
}

/** The words to look for, and where. */
export interface SearchQuery {
  readonly words: string
  readonly of: 'entries' | 'messages'
  /** Only in these; absent: in all. */
  readonly sessions?: readonly SessionId[]
  readonly limit: number
}

/** A place where the words stand: an entry, or the event of a session. */
export type SearchHit =
  | { readonly sessionId: SessionId; readonly entry: number; readonly seq?: undefined }
  | { readonly sessionId: SessionId; readonly seq: number; readonly entry?: undefined }

export interface SearchReader {
  /**
   * Returns where the words stand: first all of them together, the newest first, then some of them, the best first. Any
   * part of a word counts, of any length, without case and marks. No query is an error; one without words finds
   * nothing.
   */
  find(query: SearchQuery): Promise<readonly SearchHit[]>
  /** Returns the number of the last event of a session that is indexed. */
  indexedTo(session: SessionId): Promise<number>
  /** Returns sessions active at `since` or later with events that are not indexed, the newest first. */
  behind(since: number, limit: number): Promise<readonly SessionId[]>
}

export interface SearchWriter {
  /**
   * Indexes messages of a session up to the event `to`, and takes out those that were edited or deleted. `copied`: all
   * of them were said elsewhere, so that no later edit, which may have the number of one of them, is of any.
   */
  index(
    session: SessionId,
    to: number,
    changes: {
      readonly added: readonly { readonly seq: number; readonly words: string; readonly message?: MessageRef }[]
      readonly gone: readonly MessageRef[]
      readonly copied?: boolean
    },
  ): Promise<void>
}
