import type { SessionId, TurnId } from '../core/ids.ts'
import type { NewQuestion, Question } from '../core/question.ts'

/** The questions to people of conversations. */
export interface QuestionReader {
  get(code: string): Promise<Question | undefined>
  /** Returns one question of a call. */
  ofCall(turn: TurnId, callId: string, part: number): Promise<Question | undefined>
  /** Returns those without an answer that were asked at `since` or later, oldest first. */
  open(since: number): Promise<readonly Question[]>
  /** Returns those asked at `since` or later that were answered after their turn had continued. */
  owed(since: number): Promise<readonly Question[]>
}

export interface QuestionWriter {
  /** The code must be new. Questions of more than ninety days ago are deleted. */
  add(question: NewQuestion): Promise<void>
  /** Returns false if it was answered before, or is not wanted any more. */
  answer(code: string, answer: Required<Pick<Question, 'answer' | 'by'>> & Pick<Question, 'choice'>): Promise<boolean>
  /**
   * Gives the turn its answer, or lets it continue without: an answer that has not come by then is late. Returns the
   * question as it is from then on.
   */
  take(code: string): Promise<Question | undefined>
  /** Ends one that has no answer. */
  end(code: string): Promise<void>
  /** Deletes those of a session. */
  remove(session: SessionId): Promise<void>
}
