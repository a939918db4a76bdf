import { type Address, conversationOf } from '../core/address.ts'
import type { CardKeeper } from '../core/card-keeper.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { Answering, FreeAnswer, Question, QuestionDesk } from '../core/question.ts'
import type { Store } from '../store/store.ts'
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

/** Characters of an answer in somebody's own words. */
const LONGEST = 2_000

/**
 * Returns what somebody's words answer: a choice by its number or its words, else the words themselves where they
 * count. Throws `invalid` in words for whoever answers. Pure.
 */
export function readAnswer(
  { choices, free }: Pick<Question, 'choices' | 'free'>,
  given: string,
): { readonly answer: string; readonly choice?: number } {
  const words = given.trim()
  const at = /^\d{1,3}$/.test(words) ? Number(words) - 1 : -1
  const numbered = choices[at]
  // If a number is asked for, a number is the answer and not the place of a choice.
  if (numbered !== undefined && free?.kind !== 'number' && free?.kind !== 'integer')
    return { answer: numbered, choice: at }
  const named = choices.findIndex((choice) => choice.toLowerCase() === words.toLowerCase())
  if (named !== -1) return { answer: choices[named] ?? words, choice: named }
  if (words === '' || free === undefined) throw new ParleyError('invalid', offer(choices, free))
  const fault = faultOf(words, free)
  if (fault !== undefined) throw new ParleyError('invalid', fault)
  return { answer: words }
}

function offer(choices: readonly string[], free: FreeAnswer | undefined): string {
  const numbers = choices.length === 0 ? [] : [`a number from 1 to ${choices.length}`]
  return `Say ${[...numbers, ...(free ? ['your own words'] : [])].join(' or ')} behind the code.`
}

function faultOf(words: string, { kind, min = -Infinity, max = Infinity }: FreeAnswer): string | undefined {
  if (kind === 'text') {
    const [length, most] = [[...words].length, Math.min(max, LONGEST)]
    if (length > most) return `That is too long: ${most} characters at most.`
    return length < min ? `That is too short: ${min} characters at least.` : undefined
  }
  const value = Number(words)
  if (kind === 'integer' && !Number.isSafeInteger(value)) return 'That is no whole number.'
  if (!Number.isFinite(value)) return 'That is no number.'
  if (value < min) return `That is too small: ${min} at least.`
  return value > max ? `That is too large: ${max} at most.` : undefined
}
