import { type Address, conversationOf } from '../core/address.ts'
import type { CardKeeper } from '../core/card-keeper.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { Answering, Question, QuestionDesk } from '../core/question.ts'
import type { Store } from '../store/store.ts'
import { readAnswer } from './read-answer.ts'
import { overBy } from './still-open.ts'

export interface QuestionDeskDeps {
  readonly store: Store
  readonly clock: Clock
  readonly cards: Pick<CardKeeper, 'closeIfOver'>
  /** Returns true for two ids of one person, as things are now. */
  isSame(this: void, one: AuthorId, other: AuthorId): boolean
  /** Returns the address without a topic where topics are threads, which a command cannot always name. */
  roomOf(this: void, address: Address): Address
  /** Called once an answer is on record; resolves when what follows from it has begun. */
  answered(question: Question): Promise<void>
}

/** Returns the desk at which people answer questions. */
export function createQuestionDesk(deps: QuestionDeskDeps): QuestionDesk {
  const { store, clock, cards } = deps
  return {
    async answer(code, words, answering) {
      const question = await store.read.questions.get(code.toLowerCase())
      if (question === undefined) throw new ParleyError('not_found', `I have asked nothing of the code ${code}.`)
      checkMay(deps, question, answering)
      const { author, sender, identity } = answering
      const read = readAnswer(question, words)
      // The command runs again after a crash, and a person may press twice.
      if (question.by?.author === author && question.answer === read.answer) {
        await deps.answered(question)
        return question
      }
      if ((await overBy(store, question, clock.now())) !== undefined) {
        void cards.closeIfOver(question.code)
        throw over()
      }
      const stored = await store.write(async (tx) => {
        const by = { author, sender, identity }
        if (!(await tx.questions.answer(question.code, { ...read, by }))) return false
        // Before any model reads the words: what the turn may do is bounded by whoever gave them (decision 0009).
        await tx.authors.add(question.sessionId, author)
        return true
      })
      if (!stored) throw over()
      failpoint('CP22-question-answered')
      void cards.closeIfOver(question.code)
      const now = (await store.read.questions.get(question.code)) ?? question
      await deps.answered(now)
      return now
    },
  }
}

function checkMay({ isSame, roomOf }: QuestionDeskDeps, question: Question, answering: Answering): void {
  const { reply, to } = question
  const { address, author, stranger } = answering
  if (conversationOf(roomOf(address)) !== conversationOf(roomOf(reply.address)))
    throw new ParleyError('forbidden', 'That was asked in another conversation: answer it there.')
  if (stranger || (to !== undefined && !isSame(to, author)))
    throw new ParleyError('forbidden', 'That question is not for you.')
}

function over(): ParleyError {
  return new ParleyError('conflict', 'That question is over: it was answered, is not wanted any more, or is too old.')
}
