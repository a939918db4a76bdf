import type { Address } from './address.ts'
import type { Identity, ReplyTarget } from './dispatch.ts'
import type { SessionId, TraceId, TurnId } from './ids.ts'
import type { Sender } from './message.ts'
import type { AuthorId } from './platform-id.ts'
import type { TurnRef } from './session-tools.ts'

/** A number or a text that somebody may answer with, and its limits; of a text, how long it is. */
export interface FreeAnswer {
  readonly kind: 'text' | 'number' | 'integer'
  readonly min?: number
  readonly max?: number
}

/** Somebody who has answered, as they were then. */
export interface Answerer {
  readonly author: AuthorId
  readonly sender: Sender
  readonly identity: Identity
}

/**
 * `asked`: nobody has answered. `answered`: somebody has. `told`: the turn that asked has the answer. `ended`: it is
 * not wanted any more.
 */
export type QuestionState = 'asked' | 'answered' | 'told' | 'ended'

/** A question as its asker has it. */
export interface QuestionDraft {
  readonly text: string
  /** The answers that are offered, each as a button. */
  readonly choices: readonly string[]
  /** Other answers count as well. */
  readonly free?: FreeAnswer
  /** The tool server whose words it is. */
  readonly server?: string
  /** Several questions of one call have a number each. */
  readonly part: number
  /** Absent: whoever the turn answers, alone. */
  readonly everybody?: true
}

/** A question to people of a conversation. Times are ms since the epoch. */
export interface Question extends Omit<QuestionDraft, 'everybody'> {
  /** A name that people type; it proves nothing. */
  readonly code: string
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly callId: string
  readonly traceId: TraceId
  /** The place where it stands, and where a late answer is answered. */
  readonly reply: ReplyTarget
  /** The one person who may answer; absent: everybody who may talk there. */
  readonly to?: AuthorId
  readonly askedAt: number
  readonly state: QuestionState
  /** The turn has continued without the answer. */
  readonly late: boolean
  readonly answer?: string
  /** Which choice it was, from 0. */
  readonly choice?: number
  readonly by?: Answerer
}

export type NewQuestion = Omit<Question, 'state' | 'late' | 'answer' | 'choice' | 'by'>

/** An answer as the turn gets it; `open`: nobody has answered in time, and it may still come where `late` is true. */
export type QuestionOutcome =
  | { readonly kind: 'answered'; readonly text: string; readonly choice?: number; readonly name: string }
  | { readonly kind: 'open'; readonly because: 'time' | 'spoken' | 'ended' }

/** Asks people of a conversation and waits two minutes at most. */
export interface AsksPeople {
  /**
   * Puts a question and waits for its answer; the same call again, after a crash, asks nothing twice. Throws
   * `forbidden` in words for the model where nobody can be asked, and `aborted` when `signal` ends the turn.
   */
  ask(draft: QuestionDraft, turn: TurnRef & { readonly callId: string }, signal: AbortSignal): Promise<QuestionOutcome>
}

/** Somebody who gives an answer, and where. */
export interface Answering extends Answerer {
  readonly address: Address
  /** Somebody whom nobody let in by name. */
  readonly stranger?: boolean
}

/** The questions as people answer them. */
export interface QuestionDesk {
  /**
   * Answers by code, with a number or words. Throws `not_found` for a code that names none, `forbidden` for somebody
   * who may not answer it or not there, `invalid` for words that are no answer, `conflict` for one that is over.
   */
  answer(code: string, words: string, answering: Answering): Promise<Question>
}
