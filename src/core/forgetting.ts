import { ParleyError } from './errors.ts'
import type {
  AccountId,
  ChannelId,
  InboxId,
  MediaId,
  PersonId,
  ScheduleId,
  ScopeKey,
  SessionId,
  SourceId,
  TurnId,
} from './ids.ts'
import type { AuthorId } from './platform-id.ts'

/** A chat, or a topic of it. */
export interface ForgottenPlace {
  readonly channel: ChannelId
  /** Absent: by whichever bot. */
  readonly account?: AccountId
  readonly chat: string
  readonly topic?: string
  /** Only what is outside of its topics, where these are rooms beside it: Telegram's General topic. */
  readonly root?: true
}

/**
 * The words to forget: one message of somebody, with the answer to it; what a person said, everywhere or in one
 * chat; a chat as a whole; sessions that are of no chat, such as those of a schedule, wherever their answers go. Ids
 * alone say who and where.
 */
export type ForgetSubject =
  | { readonly kind: 'message'; readonly rows: readonly InboxId[] }
  | {
      readonly kind: 'person'
      readonly ids: readonly AuthorId[]
      readonly person?: PersonId
      readonly place?: ForgottenPlace
    }
  | {
      readonly kind: 'chat'
      readonly place: ForgottenPlace
      /** The session of that name, in which nobody may have said anything yet. */
      readonly session?: SessionId
    }
  | {
      readonly kind: 'session'
      /** One, or all that had its key in turn. */
      readonly sessions: readonly SessionId[]
      /** The key by which commands reached them, from when and until when: a command is in no session. */
      readonly commands: { readonly scopeKey: ScopeKey; readonly since: number; readonly before: number }
    }

export type ForgetTarget = ForgetSubject & {
  /** Only what was said then or later, ms since the epoch. */
  readonly since?: number
  /** Only what was said before. */
  readonly before: number
}

/** The rows of each store that are emptied or removed, by number and id: no words are in it. */
export interface ForgetPlan {
  readonly sessions: readonly SessionPlan[]
  /** Messages that lose their words and the trace of what was decided about them. */
  readonly inbox: readonly InboxId[]
  /** Messages of others that lose what they quote. */
  readonly quoting: readonly InboxId[]
  /** Texts that were said in chats: their rows lose their text, and one that was not sent yet never is. */
  readonly sources: readonly SourceId[]
  /** The answers that are deleted in their chats, where the platform can. */
  readonly unsay: readonly TurnId[]
  readonly entries: readonly number[]
  readonly schedules: readonly ScheduleId[]
  readonly media: readonly MediaId[]
  /** Applicants whose names go. */
  readonly applicants: readonly string[]
  /** The channels on which something of it was received or said; older plans do not name them. */
  readonly channels?: readonly ChannelId[]
  /** It goes for its age: nobody has asked for it, so that a bot that receives it later than others may keep it. */
  readonly aged?: true
}

/** The plan that removes nothing. */
export const NO_PLAN: ForgetPlan = {
  ...{ sessions: [], inbox: [], quoting: [], sources: [], unsay: [], entries: [], schedules: [], media: [] },
  applicants: [],
}

/** Places in the list of an event that holds what several people have sent. */
export interface EventParts {
  readonly seq: number
  /** These go. */
  readonly places: readonly number[]
  /** These lose what they quote. */
  readonly quotes?: readonly number[]
}

export interface SessionPlan {
  readonly id: SessionId
  /** The events that are emptied. */
  readonly empty: readonly number[]
  /** Messages of others that lose what they quote. */
  readonly cut: readonly number[]
  /** Events that lose some of their messages or files: the others are of other people. */
  readonly parts?: readonly EventParts[]
  readonly turns: readonly TurnId[]
  /** The turn that ran, its events up to then and what it was asked with: they are emptied once it has ended. */
  readonly running?: {
    readonly turn: TurnId
    readonly empty: readonly number[]
    readonly rows?: readonly InboxId[]
  }
  /** Lists show less of it: not its last words; no description either; no names of its place either. */
  readonly unnamed?: 'preview' | 'description' | 'all'
}

/** The number of rows that were removed or emptied, by store. */
export interface ForgetCounts {
  readonly messages: number
  readonly events: number
  readonly quotes: number
  readonly summaries: number
  readonly workingMemories: number
  readonly toolResults: number
  readonly received: number
  readonly sent: number
  readonly notSent: number
  readonly deleting: number
  readonly memories: number
  readonly indexed: number
  readonly files: number
  readonly transcripts: number
  readonly questions: number
  readonly reminders: number
  readonly sessions: number
}

export const NOTHING_FORGOTTEN: ForgetCounts = {
  ...{ messages: 0, events: 0, quotes: 0, summaries: 0, workingMemories: 0, toolResults: 0, received: 0, sent: 0 },
  ...{ notSent: 0, deleting: 0, memories: 0, indexed: 0, files: 0, transcripts: 0, questions: 0, reminders: 0 },
  sessions: 0,
}

export interface ForgottenPerson {
  readonly ids: readonly AuthorId[]
  readonly person?: PersonId
}

/** The account of what was removed, or would be, and of what others still hold. */
export interface ForgetReceipt {
  readonly id: string
  /** `planned`: nothing was removed. `waits`: a turn that still runs is emptied when it has ended. */
  readonly state: 'planned' | 'waits' | 'done'
  readonly counts: ForgetCounts
  /** The person whose words are meant, where an operator has named one: all ids that are linked go together. */
  readonly whose?: ForgottenPerson
  /** By the name of a platform: what it still holds. */
  readonly platforms: Readonly<Record<string, string>>
  /** Copies of the database, by file. */
  readonly backups: readonly string[]
  /** Files that conversations were exported to. */
  readonly exports: readonly string[]
}

/** A request that was begun. */
export interface Forgetting {
  readonly id: string
  readonly state: 'running' | 'done'
  readonly plan: ForgetPlan
  readonly counts: ForgetCounts
  readonly askedAt: number
}

/** The events of a log by which words of it leave what a model may be shown. */
export const REMOVALS = ['words_forgotten', 'message_deleted', 'exchange_taken_back'] as const

/** The newest events of a session that are emptied with the first commit: as many as a model's first view reads. */
export const MOST_AT_FIRST = 2_000

/** The part of a store that knows which turns are to be forgotten once they have ended. */
export interface ForgottenTurns {
  readonly forgetting: { isForgetting(turn: TurnId): Promise<boolean> }
}

/** All of these turns, and these events, are emptied once a turn has ended. */
export interface LeavingWords {
  readonly turns: readonly TurnId[]
  readonly seqs: readonly number[]
}

export const NOTHING_LEAVES: LeavingWords = { turns: [], seqs: [] }

/** Returns whether an event is emptied once a turn has ended. */
export function isLeaving(
  { seq, turnId }: { readonly seq: number; readonly turnId?: TurnId },
  { turns, seqs }: LeavingWords,
): boolean {
  return seqs.includes(seq) || (turnId !== undefined && turns.includes(turnId))
}

/** The refusal of a call of a turn that was shown words which somebody had forgotten meanwhile, for the model. */
export const BEING_FORGOTTEN =
  'Denied: what this turn was shown is being forgotten, so nothing of it is handed on or kept. End the answer without it; people can ask for it again afterwards.'

/**
 * Throws `forbidden` if the words that a turn was shown are being forgotten. Whatever hands words of a turn on asks it
 * in the transaction that does so: a request that begins before that is known, and one after it finds what was done.
 */
export async function refuseForgotten({ forgetting }: ForgottenTurns, turn: TurnId | undefined): Promise<void> {
  if (turn !== undefined && (await forgetting.isForgetting(turn))) throw new ParleyError('forbidden', BEING_FORGOTTEN)
}

/** Throws `conflict` if something was forgotten while a session was written to a file: the file would keep it. */
export function refuseForgottenMeanwhile(later: readonly { readonly type: string }[]): void {
  if (later.some(({ type }) => type === 'words_forgotten'))
    throw new ParleyError('conflict', 'Something of it was forgotten while it was written: export it again.')
}

export function addCounts(one: ForgetCounts, more: Partial<ForgetCounts>): ForgetCounts {
  const sum: Record<string, number> = { ...one }
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count
  return sum as unknown as ForgetCounts
}
