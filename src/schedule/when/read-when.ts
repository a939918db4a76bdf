import { ParleyError } from '../../core/errors.ts'
import type { Timing } from '../../core/schedule.ts'
import { readSpec, type SpecOptions } from './read-spec.ts'
import { isRepeated, type Spec } from './spec.ts'
import { LANGUAGES, type Language } from './time-words.ts'
import { type Reading, toTiming } from './to-timing.ts'
import { type Token, tokensOf, vocabularyOf } from './tokens.ts'

/** A typed text without the times in it, and these. */
export interface TypedTime {
  readonly timing: Timing
  readonly text: string
}

const LONGEST_TEXT = 2_000

/** Throws `invalid` for a text that is too long to look for a time in. */
export function checkReadable(text: string): void {
  if (text.length > LONGEST_TEXT)
    throw new ParleyError('invalid', `The text is longer than ${LONGEST_TEXT} characters; make it shorter.`)
}

/**
 * Returns the times at the beginning or the end of what somebody has typed, such as `tomorrow at 9 call mum` or `call
 * mum every sunday at 10`, and the text without them; undefined where there are none. English, German, French and
 * Spanish. Throws `invalid`, with a question and an example, for times that have no one meaning, and where only a part
 * of them would be understood: what is left must not look like a time (decision 0055).
 */
export function readTyped(typed: string, reading: Reading): TypedTime | undefined {
  checkReadable(typed)
  const text = typed.trim().replace(/^(?:remind\s+)?me\s+(?=\S)/i, '')
  const found = mostUnderstood((language) => inLanguage(text, language))
  if (found === undefined) return undefined
  const question = found.question ?? timeOfOtherLanguage(found)
  if (question !== undefined) throw new ParleyError('invalid', question)
  return { timing: toTiming(found.spec, reading), text: found.text }
}

/** Returns the times that a whole text names. Throws `invalid` where it is no time, or has no one meaning. */
export function readTiming(words: string, reading: Reading): Timing {
  checkReadable(words)
  const found = mostUnderstood((language) => wholeIn(words.trim(), language, []))
  if (found !== undefined) return toTiming(found.spec, reading)
  const examples = '2026-11-27T17:00, tomorrow at 9, or every monday at 8'
  throw new ParleyError('invalid', `"${words}" is no time; write one such as ${examples}.`)
}

/**
 * Returns the end that a text names for something that begins now: `2h`, `for 2 hours`, `until monday at 9`. Throws
 * `invalid` where it names none, or more than one.
 */
export function readEnd(words: string, reading: Reading): Extract<Timing, { readonly at: number }> {
  checkReadable(words)
  const found = mostUnderstood((language) => wholeIn(words.trim(), language, ['until', 'to', 'for']))
  const timing = found && toTiming(found.spec, reading)
  if (timing !== undefined && 'at' in timing) return timing
  throw new ParleyError(
    'invalid',
    'Give me a time such as `30m`, `2h`, `1d`, `until monday at 9` or `until 5 december`, or `off`.',
  )
}

/** Times that one language understands, and what it leaves of the text. */
interface Found {
  readonly spec: Spec
  readonly text: string
  /** Characters that the times take. */
  readonly length: number
  /** Times stand before the text, or behind it. */
  readonly begun: boolean
  readonly ended: boolean
  /** Something beside them looks like a time, too. */
  readonly question?: string | undefined
}

/** Asks each language; of two that understand as much one that leaves no question is better. */
function mostUnderstood(read: (language: Language) => Found | undefined): Found | undefined {
  let best: Found | undefined
  for (const language of LANGUAGES) {
    const one = read(language)
    if (one === undefined) continue
    const asksLess = one.length === best?.length && best.question !== undefined && one.question === undefined
    if (best === undefined || one.length > best.length || asksLess) best = one
  }
  return best
}

function wholeIn(text: string, language: Language, openers: readonly string[]): Found | undefined {
  const tokens = tokensOf(text, vocabularyOf(language))
  const begin = openers.includes(tokens[0]?.kind ?? '') ? 1 : 0
  const found = readSpec(tokens, begin, { language, bareDelay: true })
  const isWhole = found !== undefined && found.end === tokens.length
  return isWhole ? { spec: found.spec, text: '', length: text.length, begun: true, ended: true } : undefined
}

function inLanguage(text: string, language: Language): Found | undefined {
  const { edges, middle } = edgesOf(text)
  const tokens = tokensOf(edges, vocabularyOf(language))
  const options = { language }
  const begin = phraseAt(tokens, 0, { ...options, bareDelay: true })
  const repeated = begin !== undefined && isRepeated(begin.spec)
  const end = phraseAtEnd(tokens, begin?.end ?? 0, { ...options, repeated })
  const times = begin && end ? joined(begin, end) : (begin ?? end)
  if (times === undefined) return undefined
  const ended = end !== undefined && times !== begin
  const left = tokens.slice(begin?.end ?? 0, ended ? end.begin : tokens.length)
  const rest = edges.slice(left[0]?.start ?? 0, left.at(-1)?.end ?? 0)
  return {
    spec: times.spec,
    text: withoutFillers(rest.replace(MIDDLE, () => middle)),
    length: times.length,
    begun: begin !== undefined,
    ended,
    question:
      times.question ?? (begin && questionBehind(times.spec, left, options)) ?? questionWithin(times.spec, left),
  }
}

/** Characters at the beginning and at the end of a text in which times are looked for. */
const EDGE = 200
/** Stands for the words between the beginning and the end of a long text. */
const MIDDLE = '\uE000'

function edgesOf(text: string): { readonly edges: string; readonly middle: string } {
  if (text.length <= 2 * EDGE) return { edges: text, middle: '' }
  const space = text.lastIndexOf(' ', EDGE)
  const begin = space < 0 ? EDGE : space
  const found = text.indexOf(' ', text.length - EDGE)
  const end = found < 0 ? text.length - EDGE : found
  return { edges: `${text.slice(0, begin)} ${MIDDLE} ${text.slice(end)}`, middle: text.slice(begin, end).trim() }
}

interface Phrase {
  readonly spec: Spec
  /** Tokens of the phrase: from `begin`, before `end`. */
  readonly begin: number
  readonly end: number
  readonly length: number
  readonly question?: string
}

function phraseAt(tokens: readonly Token[], begin: number, options: SpecOptions): Phrase | undefined {
  const found = readSpec(tokens, begin, options)
  const [first, last] = [tokens[begin], tokens[(found?.end ?? 0) - 1]]
  if (found === undefined || first === undefined || last === undefined) return undefined
  return { spec: found.spec, begin, end: found.end, length: last.end - first.start }
}

/** Words before a time that make it a part of the text: `the talk about monday`. */
const BELONGS = /^(?:about|regarding|re|before|since|de|du|del|von|vom|pour|para|f\u00fcr|seit|vor|sobre|sur)$/i

/** Kinds of words that may stand right before a time at the end: `call May at 7`, `walk 20 minutes at 5`. */
const MAY_PRECEDE: readonly string[] = [
  'word',
  'comma',
  'digits',
  'number',
  'ordinal',
  'unit',
  'short',
  'month',
  'span',
]

/** Returns the longest phrase that ends the text, and begins behind `from`. */
function phraseAtEnd(tokens: readonly Token[], from: number, options: SpecOptions): Phrase | undefined {
  for (let begin = from + 1; begin < tokens.length; begin++) {
    const before = tokens[begin - 1]
    // Behind a word of time it would be a half of one.
    if (before === undefined || !MAY_PRECEDE.includes(before.kind) || BELONGS.test(before.word)) continue
    const phrase = phraseAt(tokens, begin, options)
    if (phrase?.end === tokens.length) return phrase
  }
  return undefined
}

const DAY_AT_END =
  'Does the day at the end belong to the time? Write the whole time first, such as `tomorrow at 9 call mum`.'

/** One phrase at the beginning and one at the end: both are one where each says what the other leaves open. */
function joined(begin: Phrase, end: Phrase): Phrase {
  const [first, second] = [begin.spec, end.spec]
  const spec = { ...second, ...first, clocks: [...first.clocks, ...second.clocks] }
  const both = { ...begin, spec, length: begin.length + end.length }
  const isDated = second.day !== undefined || second.delay !== undefined
  if (!isDated && !isRepeated(second)) return hasHour(first) && hasHour(second) ? begin : both
  const isHourAlone = first.day === undefined && first.delay === undefined && !isRepeated(first)
  if (!isHourAlone || hasHour(second)) return begin
  return isRepeated(second) ? both : { ...both, question: DAY_AT_END }
}

function hasHour({ clocks, part, delay, repeat, day }: Spec): boolean {
  const isWithinDay = repeat !== undefined && ['second', 'minute', 'hour'].includes(repeat.unit)
  return clocks.length > 0 || part !== undefined || delay !== undefined || isWithinDay || day?.kind === 'iso'
}

/** Returns a question where right behind the times something looks like one more. */
function questionBehind(spec: Spec, left: readonly Token[], options: SpecOptions): string | undefined {
  const first = left[0]?.kind === 'comma' || left[0]?.kind === 'and' ? 1 : 0
  const next = left[first]
  // `um 12 Mittag essen`
  if (next === undefined || (hasHour(spec) && ['noon', 'midnight'].includes(next.kind))) return undefined
  const more = readSpec(left, first, { ...options, repeated: isRepeated(spec) })
  if (more !== undefined) return notUnderstood(left.slice(first, more.end))
  const isSecondHour = left[0]?.kind === 'and' && (next.kind === 'digits' || next.kind === 'number')
  if (next.kind === 'until' || next.kind === 'except' || isSecondHour)
    return notUnderstood(left.slice(first, first + 2))
  const isHour = next.kind === 'digits' && next.d <= 2 && next.n <= 24 && left[first + 1]?.kind !== 'unit'
  if (!isHour || hasHour(spec)) return undefined
  return `Is "${next.word}" the hour? Write \`at ${next.word}\` where it is, and put the text first where it is not.`
}

const AFTER_EVERY: readonly string[] = ['weekday', 'each', 'weekdays', 'unit', 'other', 'ordinal', 'part']

/** Returns a question where the text speaks of a repetition, and the times are for once. */
function questionWithin(spec: Spec, left: readonly Token[]): string | undefined {
  if (isRepeated(spec)) return undefined
  const every = left.findIndex(
    ({ kind }, at) => kind === 'every' && (at === 0 || AFTER_EVERY.includes(left[at + 1]?.kind ?? '')),
  )
  return every < 0 ? undefined : notUnderstood(left.slice(every, every + 2))
}

/** Kinds that are a time wherever they stand. */
const ALWAYS_TIME: readonly string[] = ['clock', 'weekday', 'each', 'weekdays', 'often', 'date', 'slashed', 'iso']

/** Returns a question where a word right beside the times is one in another language. */
function timeOfOtherLanguage({ text, begun, ended }: Found): string | undefined {
  for (const language of LANGUAGES) {
    const tokens = tokensOf(text, vocabularyOf(language)).filter(({ kind }) => kind !== 'comma')
    for (const token of [begun ? tokens[0] : undefined, ended ? tokens.at(-1) : undefined]) {
      const isDay = token?.kind === 'rel' && token.n > 0
      if (token && (isDay || ALWAYS_TIME.includes(token.kind))) return notUnderstood([token])
    }
  }
  return undefined
}

function notUnderstood(tokens: readonly Token[]): string {
  const words = tokens.map(({ word }) => word).join(' ')
  const examples = [
    '`tomorrow at 9 call mum`',
    '`every monday and thursday at 8 bins`',
    'or `every 14 days at 9:00 until 5 december check drops`',
  ]
  return `I did not understand "${words}" as a part of the time. Write it as in ${examples.join(', ')}.`
}

function withoutFillers(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:[,;:\u2013-]\s*)?(?:(?:please\s+)?(?:remind\s+)?me\b\s*)?(?:(?:to|about|that)\b\s*)?/i, '')
    .replace(/[\s,]+$/, '')
}
