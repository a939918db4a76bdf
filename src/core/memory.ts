import type { AgentProfile } from './agent-profile.ts'
import type { Charge } from './budget.ts'
import type { AgentId, SessionId } from './ids.ts'
import type { Usage } from './model.ts'
import type { AuthorId } from './platform-id.ts'
import type { TurnRef } from './session-tools.ts'

/** Stands before the working memory in an answer to `/memory`. */
export const IN_MIND = 'In mind for this conversation:'

/** The group of tools without which an agent has no memory, and no checkpoint runs. */
export const MEMORY_GROUP = 'memory'

/** Says when checkpoints start by themselves (`session.checkpoint`). */
export interface CheckpointSettings {
  /** Turns since the last one. */
  readonly turns: number
  /** Messages of a group since the last one that no turn answers. */
  readonly quietGroupMessages: number
  /** Minutes without a message. */
  readonly idleMinutes: number
}

export const DEFAULT_CHECKPOINTS: CheckpointSettings = { turns: 5, quietGroupMessages: 20, idleMinutes: 10 }

/** The writer of an entry: a checkpoint, the agent in a turn, or a person. */
export type EntryWriter = 'checkpoint' | 'agent' | 'person'

/** A line of an agent's long-term memory. */
export interface MemoryEntry {
  /** Its number, by which people and the model name it; never given twice. */
  readonly no: number
  readonly agentId: AgentId
  /** The session in which it was learned: whoever may read that today may be shown it. */
  readonly sessionId: SessionId
  readonly text: string
  /** Everybody whose words it is made of: shown to a model, it counts as theirs. */
  readonly authors: readonly AuthorId[]
  readonly by: EntryWriter
  /** Ms since the epoch: when it was written or changed last. */
  readonly at: number
}

/** The longest text of an entry, of the working memory and of a description, in characters. */
export const MEMORY_LIMITS = { entry: 1_000, working: 4_000 } as const

/** A line of what was said, numbered for the model of a checkpoint. */
export interface NumberedLine {
  readonly no: number
  readonly text: string
}

/** The part of a conversation that a checkpoint looks at, and what is remembered of it already. */
export interface IntrospectionRequest {
  readonly agent: AgentProfile
  readonly sessionId: SessionId
  readonly charge?: Charge | undefined
  /** In order. Names, quotes and labels are those that the agent was shown. */
  readonly lines: readonly NumberedLine[]
  readonly working: string | undefined
  readonly description: string
  /** Entries of this session that it may change. */
  readonly entries: readonly Pick<MemoryEntry, 'no' | 'text'>[]
}

/** A new text, and the numbers of the lines it is made of. */
export interface RememberedText {
  readonly text: string
  readonly lines: readonly number[]
}

/** The writes that a checkpoint asks for. Nothing of it is written yet. */
export interface Introspection {
  readonly saved: readonly RememberedText[]
  readonly changed: readonly (RememberedText & { readonly no: number })[]
  readonly removed: readonly number[]
  /** Absent: it stays. Empty: there is none any more. */
  readonly working?: string
  readonly description?: string
  /** The names of tools that it asked for and that no checkpoint has (S38). */
  readonly refused: readonly string[]
  readonly model: string
  readonly usage: Usage
}

/** Asks a model what to remember. Throws what the model throws. */
export type Introspect = (request: IntrospectionRequest, signal: AbortSignal) => Promise<Introspection>

/** `nothing`: nothing was said since the last one. `running`: one runs already (S37). */
export type CheckpointOutcome =
  | { readonly kind: 'done'; readonly saved: number; readonly changed: number; readonly removed: number }
  | { readonly kind: 'nothing' | 'running' }

/** An entry as people and the model are shown it. */
export type ShownEntry = Pick<MemoryEntry, 'no' | 'text' | 'at'>

/** The tools of the group `memory`, for the turn of a session. */
export interface MemoryTools {
  /**
   * Returns entries that hold these words, the best first; without words the newest. Only those of conversations that
   * everybody who sees the turn's answer may read today. `authors` are those whose words they are.
   */
  search(
    query: { readonly words: string; readonly limit: number },
    turn: TurnRef,
  ): Promise<{ readonly entries: readonly ShownEntry[]; readonly authors: readonly AuthorId[] }>
  /** Keeps a text for this conversation. `key` names the call: one repeated after a crash keeps it once. */
  save(text: string, turn: TurnRef, key: string): Promise<ShownEntry>
  /**
   * Throws `not_found` for one out of reach, and `forbidden` unless all whose words the turn was shown may do it. `key`
   * names the call: one repeated after a crash has removed it.
   */
  forget(no: number, turn: TurnRef, key: string): Promise<void>
}

/** A person who asks for memory by a command in a chat. */
export interface MemoryAsker {
  readonly author: AuthorId
  readonly sessionId: SessionId
  /** Others see the answer: it has the entries of this conversation alone. */
  readonly shared: boolean
  /** The conversation is shared with people of other chats, who have said some of it in private. */
  readonly joined?: boolean
}

/** The memory as people use it in chats. No call of it asks a model but `checkpoint`. */
export interface MemoryDesk {
  /** Returns the entries that the asker may see here, the newest first, or those that hold these words. */
  list(asker: MemoryAsker, words: string, limit: number): Promise<readonly ShownEntry[]>
  /** Keeps a text of the asker's own. */
  remember(asker: MemoryAsker, text: string, key: string): Promise<ShownEntry>
  /** Throws `not_found`, and `forbidden` for whoever is neither an owner nor the only author. */
  correct(asker: MemoryAsker, no: number, text: string): Promise<ShownEntry>
  /** Throws as `correct` does. Undefined: the same request has removed it before a crash. */
  remove(asker: MemoryAsker, no: number, key: string): Promise<ShownEntry | undefined>
  /** Returns the working memory of the conversation; undefined where it has words that the asker may not see. */
  working(asker: MemoryAsker): Promise<string | undefined>
  /** Runs a checkpoint now, charged to whoever asks for it. Rejects with what the model fails with. */
  checkpoint(session: SessionId, charge?: Charge): Promise<CheckpointOutcome>
  /** Returns true if this agent has a memory. */
  has(agent: AgentId): boolean
}
