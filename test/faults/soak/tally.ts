import { REPEAT_MARK } from '../delivery-invariants.ts'
import type { Platform } from './plan.ts'

/** Whoever overtakes stands close by. */
const LOOK_AHEAD = 200

/** A message of a person, as the platform has it. */
export interface Said {
  readonly platform: Platform
  readonly chat: string
  readonly word: string
  readonly at: number
  /**
   * When the platform first handed it over, and when it did so for the last time; a platform that repeats an event may
   * itself put it behind a later one. Undefined: the platform keeps the order.
   */
  readonly handed?: { readonly first: number; readonly last: number } | undefined
}

/** A message of the bot that stands in a chat. */
export interface Answer {
  readonly platform: Platform
  readonly chat: string
  readonly at: number
  readonly text: string
}

export interface Tally {
  readonly said: number
  readonly answered: number
  readonly lost: readonly Said[]
  /** Words that stand in two unmarked messages or, where a platform can tell of the first, in any two. */
  readonly doubled: readonly Said[]
  /** Beginnings of answers that stand unfinished where a platform can tell of the message that shows them. */
  readonly unfinished: readonly Answer[]
  readonly outOfOrder: readonly Said[]
  readonly marked: number
  readonly longestWaitMs: number
}

interface Answered {
  readonly said: Said
  readonly answers: readonly Answer[]
}

/** Every answer of the model ends with it, so that one which is still growing is known. */
export const END = ' and nothing else'

/** Compares what people said with what the bot answered there, both in the order in which they stand. */
export function tallyOf(said: readonly Said[], answers: readonly Answer[]): Tally {
  const byPlace = new Map<string, Answer[]>()
  for (const answer of answers)
    for (const word of wholeWordsOf(answer.text)) {
      const key = placeOf(answer, word)
      byPlace.set(key, [...(byPlace.get(key) ?? []), answer])
    }
  const all = said.map((one) => ({ said: one, answers: byPlace.get(placeOf(one, one.word)) ?? [] }))
  const answered = all.filter((one) => one.answers.length > 0)
  return {
    said: said.length,
    answered: answered.length,
    lost: all.filter((one) => one.answers.length === 0).map((one) => one.said),
    doubled: answered.filter(isDoubled).map((one) => one.said),
    unfinished: answers.filter(({ platform, text }) => platform !== 'telegram' && !text.endsWith(END)),
    outOfOrder: overtaken(answered, answers),
    marked: answers.filter(isMarked).length,
    longestWaitMs: Math.max(0, ...answered.map((one) => (one.answers[0]?.at ?? 0) - one.said.at)),
  }
}

/** Returns each word once, however often a text has it. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.match(/\bw\d+\b/g) ?? [])]
}

/** An answer that grows may be cut inside its last word, which then looks like another one. */
function wholeWordsOf(text: string): string[] {
  return wordsOf(text.endsWith(END) ? text : text.replace(/\S*$/, ''))
}

/** An answer elsewhere is none. */
function placeOf({ platform, chat }: Pick<Answer, 'platform' | 'chat'>, word: string): string {
  return `${platform}/${chat}/${word}`
}

function isMarked({ text }: Answer): boolean {
  return text.startsWith(REPEAT_MARK)
}

function isDoubled({ said: { platform }, answers }: Answered): boolean {
  const counted = platform === 'telegram' ? answers.filter((answer) => !isMarked(answer)) : answers
  return counted.length > 1
}

/** Returns those whose first answer stands behind that of a message said later in the same conversation. */
function overtaken(all: readonly Answered[], answers: readonly Answer[]): Said[] {
  const place = new Map(answers.map((answer, index) => [answer, index]))
  const standsAt = ({ answers: [first] }: Answered): number => (first === undefined ? -1 : (place.get(first) ?? -1))
  const chats = new Map<string, Answered[]>()
  for (const one of all) {
    const chat = `${one.said.platform}/${one.said.chat}`
    chats.set(chat, [...(chats.get(chat) ?? []), one])
  }
  return [...chats.values()].flatMap((chat) =>
    chat
      .filter((one, index) =>
        chat
          .slice(index + 1, index + 1 + LOOK_AHEAD)
          .some((later) => standsAt(later) < standsAt(one) && keptOrder(one.said, later.said)),
      )
      .map((one) => one.said),
  )
}

function keptOrder(earlier: Said, later: Said): boolean {
  if (earlier.handed === undefined || later.handed === undefined) return true
  return earlier.handed.last < later.handed.first
}
