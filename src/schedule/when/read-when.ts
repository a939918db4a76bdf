import { ParleyError } from '../../core/errors.ts'
import type { Timing } from '../../core/schedule.ts'
import { readSpec, type SpecOptions } from './read-spec.ts'
import { isRepeated, type Spec, unitOf } from './spec.ts'
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
  const request = requestIn(typed.trim())
  const found = mostUnderstood((language) => inLanguage(request, language))
  if (found === undefined) return undefined
  const question = found.question ?? timeOfOtherLanguage(found)
  if (question !== undefined) throw new ParleyError('invalid', question)
  return { timing: toTiming(found.spec, reading), text: found.text }
}

/** Returns the times that a whole text names. Throws `invalid` where it is no time, or has no one meaning. */
export function readTiming(words: string, reading: Reading): Timing {
  checkReadable(words)
  const found = mostUnderstood((language) => wholeIn(words.trim(), language, false))
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
  const found = mostUnderstood((language) => wholeIn(words.trim(), language, true))
  const timing = found && toTiming(endOfDay(found.spec), reading)
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
  /** The text behind times that begin it, and before times that end it; empty where there are none. */
  readonly before: string
  readonly behind: string
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

function wholeIn(text: string, language: Language, isEnd: boolean): Found | undefined {
  const tokens = tokensOf(text, vocabularyOf(language))
  const opener = isEnd ? tokens[0]?.kind : undefined
  const begin = opener === 'until' || opener === 'for' ? 1 : 0
  const leading = tokens[0]?.n === 1 ? { isDay: true } : { said: true }
  const options = opener === 'until' ? { language, ...leading } : ({ language, bareDelay: 'words' } as const)
  const found = readSpec(tokens, begin, options)
  const isWhole = found !== undefined && found.end === tokens.length
  return isWhole ? { spec: found.spec, text: '', length: text.length, before: '', behind: '' } : undefined
}

/** `until today` ends with it. */
function endOfDay(spec: Spec): Spec {
  const isToday = spec.day?.kind === 'rel' && spec.day.days === 0
  return isToday && !hasHour(spec) ? { ...spec, clocks: [{ h: 23, m: 59, bare: false, fixed: true }] } : spec
}

/** A typed request: the words that may hold times, and what stands around them. */
interface TypedRequest {
  readonly words: string
  /** It began with `remind me` or the like, so that `to` and `that` lead to the text. */
  readonly isAsked: boolean
  /** Pictures and the like before and behind the words, which stay in the text. */
  readonly marks: readonly [before: string, behind: string]
}

const ASKED =
  /^(?:(?:please|pls|bitte|por favor|svp)[,\s]+)?(?:(?:(?:can|could) you )?remind\s+me|erinnere?\s+mich|rappelle[- ]moi|recu[e\u00e9]rdame|me(?!\s+(?:and|&)\s))[,:]?\s+/
const POLITE =
  /[,\s]+(?:please|pls|thanks|thank you|thx|bitte|danke|merci|svp|s'il te pla[i\u00ee]t|por favor|gracias)[.!]*$/i
const MARKS_BEFORE = /^(?:[^\p{L}\p{N}\s@"'([<#*+-]+\s+)+/u
const MARKS_BEHIND = /(?:\s+[^\p{L}\p{N}\s]+)+$/u

function requestIn(typed: string): TypedRequest {
  const [before = ''] = MARKS_BEFORE.exec(typed) ?? []
  const unmarked = typed.slice(before.length)
  const asked = ASKED.exec(unmarked.toLowerCase().length === unmarked.length ? unmarked.toLowerCase() : unmarked)
  const isMe = asked !== null && !/^Me\b/.test(unmarked)
  const words = (isMe ? unmarked.slice(asked[0].length) : unmarked).replace(POLITE, '')
  const [behind = ''] = MARKS_BEHIND.exec(words) ?? []
  const bare = behind === '' ? words : words.slice(0, -behind.length)
  return { words: bare.replace(POLITE, ''), isAsked: isMe, marks: [before.trim(), behind.trim()] }
}

function inLanguage({ words, isAsked, marks }: TypedRequest, language: Language): Found | undefined {
  const { edges, middle } = edgesOf(words)
  const tokens = tokensOf(edges, vocabularyOf(language))
  const begin = phraseAt(tokens, 0, { language, bareDelay: 'digits' })
  const repeated = begin !== undefined && isRepeated(begin.spec)
  const last = phraseAtEnd(tokens, begin?.end ?? 0, { language, repeated })
  const { spec, length, question, isBegun, isEnded } = joined(begin, last) ?? {}
  if (spec === undefined || length === undefined) return undefined
  const first = isBegun && begin ? begin.end : 0
  const end = isEnded && last ? last.begin : tokens.length
  const left = tokens.slice(first, end)
  const rest = edges.slice(wordEnd(edges, tokens, first), wordBegin(edges, tokens, end)).replace(MIDDLE, () => middle)
  const [before, behind] = [isBegun ? rest : '', isEnded ? rest : '']
  const text = [marks[0], withoutFillers(rest, isAsked && isBegun === true), marks[1]].filter((one) => one !== '')
  return {
    spec,
    text: text.join(' '),
    length,
    ...{ before, behind },
    question:
      question ??
      (isBegun ? questionBehind(spec, left, { language }) : undefined) ??
      (isEnded ? questionBefore(left) : undefined) ??
      questionWithin(spec, left),
  }
}

/** Returns where the text begins behind the first `count` tokens: marks that close the last word go with it. */
function wordEnd(text: string, tokens: readonly Token[], count: number): number {
  const last = tokens[count - 1]
  if (last === undefined) return 0
  const space = text.slice(last.end).search(/\s/)
  const end = space < 0 ? text.length : last.end + space
  return Math.min(end, tokens.slice(count).find(({ kind }) => kind !== 'comma')?.start ?? end)
}

/** Returns where the text ends before a token: marks that open its word go with it. */
function wordBegin(text: string, tokens: readonly Token[], at: number): number {
  const token = tokens[at]
  if (token === undefined) return text.length
  const begin = text.slice(0, token.start).search(/\S*$/)
  return Math.max(begin, tokens[at - 1]?.end ?? 0)
}

/** Characters at the beginning and at the end of a text in which times are looked for. */
const EDGE = 200
/** Stands for the words between the beginning and the end of a long text. */
const MIDDLE = ' \uE000'

function edgesOf(text: string): { readonly edges: string; readonly middle: string } {
  if (text.length <= 2 * EDGE) return { edges: text, middle: '' }
  const begin = Math.max(text.slice(0, EDGE).search(/\s\S*$/), 0)
  const found = text.slice(-EDGE).search(/\s/)
  const end = found < 0 ? text.length : text.length - EDGE + found
  return { edges: `${text.slice(0, begin)}${MIDDLE}${text.slice(end)}`, middle: text.slice(begin, end) }
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

/** Returns true for a word behind which a time may begin: not within one, as in `3 jan 27` and `chapters 5 to 8`. */
function mayPrecede(before: Token, [first, second]: readonly Token[]): boolean {
  if (before.word === '-') return true
  const isCount = before.kind === 'digits' || before.kind === 'ordinal'
  const isRange = /^[a\u00e0]$/i.test(first?.word ?? '') && ['digits', 'number'].includes(second?.kind ?? '')
  if (isCount && (first?.kind === 'month' || isRange)) return false
  if (before.kind === 'unit' && first?.kind === 'rel') return false
  return MAY_PRECEDE.includes(before.kind) && !BELONGS.test(before.word)
}

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
    if (before === undefined || !mayPrecede(before, tokens.slice(begin, begin + 2))) continue
    const phrase = phraseAt(tokens, begin, options)
    if (phrase?.end === tokens.length) return phrase
  }
  return undefined
}

const DAY_AT_END =
  'Does the day at the end belong to the time? Write the whole time first, such as `tomorrow at 9 call mum`.'
const TWO_TIMES =
  'These are two times; which one do you mean? Write the whole time first, such as `every friday at 13:15 prayer`.'

/** The times of two phrases, and the phrases that they are from. */
interface Joined extends Pick<Phrase, 'spec' | 'length'> {
  readonly question?: string
  readonly isBegun: boolean
  readonly isEnded: boolean
}

/** One phrase at the beginning and one at the end: both are one where each says what the other leaves open. */
function joined(begin: Phrase | undefined, end: Phrase | undefined): Joined | undefined {
  // `30 min run tomorrow at 7`: the first is how long it takes.
  if (end !== undefined && (begin === undefined || begin.spec.bareDelay))
    return { ...end, isBegun: false, isEnded: true }
  if (begin === undefined) return undefined
  return end === undefined ? { ...begin, isBegun: true, isEnded: false } : both(begin, end)
}

function both(begin: Phrase, end: Phrase): Joined {
  const [one, other] = [begin.spec, end.spec]
  const first = { ...begin, isBegun: true, isEnded: false }
  const spec = { ...other, ...one, clocks: [...one.clocks, ...other.clocks] }
  const whole = { spec, length: begin.length + end.length, isBegun: true, isEnded: true }
  const isDated = other.day !== undefined || other.delay !== undefined
  if (!isDated && !isRepeated(other)) return hasHour(one) && hasHour(other) ? first : whole
  const isHourAlone = one.day === undefined && one.delay === undefined && !isRepeated(one)
  if (isHourAlone && !hasHour(other)) return isRepeated(other) ? whole : { ...whole, question: DAY_AT_END }
  return hasHour(one) && !isHourAlone ? first : { ...whole, question: TWO_TIMES }
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
  const isOfMonth = next.kind === 'of' && left[first + 1]?.kind === 'unit'
  const isSecondHour = left[0]?.kind === 'and' && (next.kind === 'digits' || next.kind === 'number')
  if (LEADING.includes(next.kind) || isSecondHour || isOfMonth) return notUnderstood(left.slice(first, first + 2))
  const run = runOf(left.slice(first))
  if (isTime(run)) return notUnderstood(run)
  const isHour = next.kind === 'digits' && next.d <= 2 && next.n <= 24 && left[first + 1]?.kind !== 'unit'
  if (!isHour || hasHour(spec)) return undefined
  return `Is "${next.word}" the hour? Write \`at ${next.word}\` where it is, and put the text first where it is not.`
}

/** Kinds of words that lead to a time: what follows them right behind a time is one that was not understood. */
const LEADING: readonly string[] = [
  'until',
  'except',
  'or',
  'before',
  'past',
  'from',
  'between',
  'halfpast',
  'quarterpast',
]

/** Returns a question where right before the times something looks like a part of them. */
function questionBefore(left: readonly Token[]): string | undefined {
  const run = runOf(left.toReversed()).reverse()
  const last = run.at(-1)
  const isOrdinal = last?.kind === 'ordinal' && last.m === 1
  return isTime(run) || isOrdinal || last?.kind === 'short' ? notUnderstood(run) : undefined
}

/** Returns the words of time that begin a text, up to the first word that is none. */
function runOf(tokens: readonly Token[]): Token[] {
  const end = tokens.findIndex(({ kind }) => kind === 'word')
  return tokens.slice(0, end < 0 ? tokens.length : end)
}

/** Kinds that are a time wherever they stand. */
const ALWAYS_TIME: readonly string[] = [
  'clock',
  'weekday',
  'each',
  'weekdays',
  'often',
  'date',
  'slashed',
  'iso',
  'next',
  'other',
]
const PLACES: readonly string[] = ['at', 'on', 'in', 'from', 'until', 'between', 'every', 'and']
const COUNTS: readonly string[] = ['digits', 'ordinal', 'clock', 'hours', 'dotted', 'month', 'noon', 'midnight']

/** Returns true for words of time that are not only a count, such as `5` and `20 minutes`. */
function isTime(run: readonly Token[]): boolean {
  return run.some(({ kind, n }, at) => {
    if (ALWAYS_TIME.includes(kind) || (kind === 'rel' && n > 0)) return true
    if (kind === 'and' && run[at + 1]?.kind === 'short') return true
    return PLACES.includes(kind) && COUNTS.includes(run[at + 1]?.kind ?? '')
  })
}

const AFTER_EVERY: readonly string[] = ['weekday', 'each', 'weekdays', 'unit', 'other', 'ordinal', 'part', 'digits']

/** Returns a question where the text speaks of a repetition, an hour or an end, and the times have none. */
function questionWithin(spec: Spec, left: readonly Token[]): string | undefined {
  const hasEnd = (spec.until ?? spec.times ?? spec.lasts) !== undefined
  const found = left.findIndex((_, at) =>
    isRepeated(spec) ? !hasEnd && isEndAt(left, at) : isOftenAt(left, at) || (!hasHour(spec) && isHourAt(left, at)),
  )
  return found < 0 ? undefined : notUnderstood(left.slice(found, found + 2))
}

function isEndAt(left: readonly Token[], at: number): boolean {
  return left[at]?.kind === 'until' && [...ALWAYS_TIME, ...COUNTS, 'the'].includes(left[at + 1]?.kind ?? '')
}

function isHourAt(left: readonly Token[], at: number): boolean {
  return left[at]?.kind === 'at' && COUNTS.includes(left[at + 1]?.kind ?? '')
}

/** `every monday`, `daily`, `one a day`. */
function isOftenAt(left: readonly Token[], at: number): boolean {
  const [before, token, next] = [left[at - 1], left[at], left[at + 1]]
  if (token?.kind === 'often') return true
  if (token?.kind === 'every') return at === 0 || AFTER_EVERY.includes(next?.kind ?? '')
  const isEach = token?.kind === 'number' && token.n === 1 && ['number', 'digits'].includes(before?.kind ?? '')
  return isEach && next?.kind === 'unit' && unitOf(next.n) !== 'minute' && unitOf(next.n) !== 'hour'
}

/** Returns a question where the words right beside the times are some in another language. */
function timeOfOtherLanguage({ before, behind }: Found): string | undefined {
  for (const language of LANGUAGES) {
    const vocabulary = vocabularyOf(language)
    const runs = [runOf(tokensOf(before, vocabulary)), runOf(tokensOf(behind, vocabulary).toReversed()).reverse()]
    const time = runs.find(isTime)
    if (time) return notUnderstood(time)
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

/** Takes away what leads from a time to its text and back: `to`, `:`, a dash. */
function withoutFillers(text: string, isAsked: boolean): string {
  const bare = text
    .trim()
    .replace(/^(?:[,;:\u2013\u2014-]\s+)/, '')
    .replace(/\s+[\u2013\u2014-]$/, '')
    .replace(/[\s,;:]+$/, '')
  return bare.replace(isAsked ? /^(?:to|that|about|daran,?|dass|an|de|que)\s+/i : /^to\s+/, '')
}
