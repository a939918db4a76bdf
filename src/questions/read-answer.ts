import { ParleyError } from '../core/errors.ts'
import type { FreeAnswer, Question } from '../core/question.ts'

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
