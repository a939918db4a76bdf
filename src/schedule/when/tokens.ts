import { type Language, WORDS } from './time-words.ts'

/** A word or a phrase of a typed text and its meaning as a time. */
export interface Token {
  /**
   * A key of `time-words.ts`; `clock` (`n` hours, `m` minutes), `dotted` (`8.30`, an hour or a date), `digits`, `date`
   * (`n` year or 0, `m` month, `d` day), `slashed` (`12/5`), `iso` (`n` ms), `span` (`n` ms, `2h30m`), `comma`, and
   * `word` for everything that is no time.
   */
  readonly kind: string
  readonly n: number
  readonly m: number
  readonly d: number
  /** Offsets in the text. */
  readonly start: number
  readonly end: number
  readonly word: string
}

const DAYS = 7
const MONTHS = 12
const DAY_MS = 86_400_000
/** A Sunday. */
const SUNDAY = Date.UTC(2026, 10, 29)
const LONGEST_PHRASE = 4
/** Parts of a day that German writes in one word with the day: `Montagabend`. */
const GERMAN_PARTS = [
  'morgen: part 9',
  'vormittag: part 9',
  'mittag: noon',
  'nachmittag: part 15',
  'abend: part 19',
  'nacht: part 22',
]

type Meaning = readonly Pick<Token, 'kind' | 'n'>[]
export type Vocabulary = ReadonlyMap<string, Meaning>

const vocabularies = new Map<Language, Vocabulary>()

/** Returns the phrases of a language by their folded form; made on first use. */
export function vocabularyOf(language: Language): Vocabulary {
  const known = vocabularies.get(language)
  if (known) return known
  const made = makeVocabulary(language)
  vocabularies.set(language, made)
  return made
}

function makeVocabulary(language: Language): Vocabulary {
  const made = new Map<string, Meaning>()
  const add = (phrases: string, separator: string, meaning: string): void => {
    for (const phrase of phrases.split(separator)) if (phrase.trim() !== '') made.set(phrase.trim(), meaningOf(meaning))
  }
  for (let day = 0; day < DAYS; day++) {
    const name = namesOf(language, { weekday: 'long' }, SUNDAY + day * DAY_MS)
    add(name, '/', `weekday ${day}`)
    if (language !== 'de') continue
    for (const [part = '', meaning = ''] of GERMAN_PARTS.map((one) => one.split(': ')))
      add(`${name}${part}/${name} ${part}/${name}${part}s`, '/', `weekday ${day} + ${meaning}`)
  }
  for (let month = 0; month < MONTHS; month++)
    add(namesOf(language, { month: 'long' }, Date.UTC(2026, month, 5)), '/', `month ${month + 1}`)
  for (const [meaning, phrases] of Object.entries(WORDS[language])) {
    const first = { short: 0, each: 0, month: 1, number: 1, ordinal: 1 }[meaning]
    if (first === undefined) add(phrases, ',', meaning)
    else for (const [at, one] of phrases.split('|').entries()) add(one, '/', `${meaning} ${first + at}`)
  }
  return made
}

function namesOf(language: Language, form: Intl.DateTimeFormatOptions, at: number): string {
  return fold(new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' }).format(at))
}

function meaningOf(text: string): Meaning {
  return text.split(' + ').map((one) => {
    const [kind = '', n = '0'] = one.split(' ')
    return { kind, n: Number(n) }
  })
}

/** Returns a word in lower case without accents. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll('\u00df', 'ss').replaceAll('\u2019', "'").normalize('NFD').replace(/\p{M}/gu, '')
}

interface Piece {
  readonly text: string
  readonly start: number
  readonly end: number
  /** A comma or the like stands behind it. */
  readonly apart: boolean
}

/** Splits a text into its tokens in one language. Cost is linear in the text. */
export function tokensOf(text: string, vocabulary: Vocabulary): readonly Token[] {
  const pieces = [...text.matchAll(/\S+/g)].flatMap((found) => piecesOf(found[0], found.index, vocabulary))
  const tokens: Token[] = []
  for (let at = 0; at < pieces.length; ) {
    const taken = phraseAt(pieces, at, vocabulary)
    const [first, last] = [pieces[at], pieces[at + taken.length - 1]]
    if (first === undefined || last === undefined) break
    const place = { start: first.start, end: last.end, word: text.slice(first.start, last.end) }
    for (const one of taken.tokens) tokens.push({ ...one, ...place })
    if (last.apart) tokens.push({ kind: 'comma', ...NOTHING, ...place, start: last.end })
    at += taken.length
  }
  return tokens
}

const NOTHING = { n: 0, m: 0, d: 0 }

function phraseAt(
  pieces: readonly Piece[],
  at: number,
  vocabulary: Vocabulary,
): { readonly length: number; readonly tokens: readonly Omit<Token, 'start' | 'end' | 'word'>[] } {
  let longest = 1
  while (longest < LONGEST_PHRASE && pieces[at + longest] !== undefined && !pieces[at + longest - 1]?.apart) longest++
  for (let length = longest; length > 0; length--) {
    const phrase = pieces.slice(at, at + length).map((piece) => piece.text)
    const meaning = vocabulary.get(phrase.join(' '))
    if (meaning) return { length, tokens: meaning.map((one) => ({ ...NOTHING, ...one })) }
  }
  return { length: 1, tokens: [numeric(pieces[at]?.text ?? '') ?? { kind: 'word', ...NOTHING }] }
}

/** A word, or two words and `to` between them for `mon-fri` and `9-17`. */
function piecesOf(raw: string, at: number, vocabulary: Vocabulary): readonly Piece[] {
  const [, open = '', inner = '', close = ''] =
    /^(["'(\u00ab\u201c\u201e]*)(.*?)([,;:!?)"'\u00bb\u201d\u2026]*)$/s.exec(raw) ?? []
  const start = at + open.length
  const text = fold(inner)
  const known = (word: string): boolean => vocabulary.has(word) || numeric(word) !== undefined
  const bare = text.replace(/\.+$/, '')
  const whole = known(text) || !known(bare) ? text : bare
  const apart = /[,;]/.test(close)
  const piece = { text: whole, start, end: start + inner.length, apart }
  if (known(whole)) return [piece]
  const [, before = '', dash = '', after = ''] = /^([^-/+&\u2013]+)([-/+&\u2013])([^-/+&\u2013]+)$/.exec(bare) ?? []
  if (!known(before) || !known(after)) return [piece]
  const middle = start + before.length
  return [
    { text: before, start, end: middle, apart: false },
    { text: '/+&'.includes(dash) ? '/' : '-', start: middle, end: middle + dash.length, apart: false },
    { text: after, start: middle + dash.length, end: piece.end, apart },
  ]
}

type Numeric = Omit<Token, 'start' | 'end' | 'word'>

/** Returns the meaning of a word of digits; undefined where it has none as a time. */
function numeric(word: string): Numeric | undefined {
  if (word === '-') return { kind: 'to', ...NOTHING }
  if (word === '/') return { kind: 'and', ...NOTHING }
  if (!/^[\d.+-]/.test(word) || !/\d/.test(word) || word.length > 40) return undefined
  return clockOf(word) ?? dateOf(word) ?? spanOf(word) ?? countOf(word)
}

const HALF_DAY = 12

function clockOf(word: string): Numeric | undefined {
  const [, h = '', m = '0', half = ''] =
    /^(\d{1,2})(?:[:h](\d{2}))?(?::\d{2})?(am|pm|a\.?m\.?|p\.?m\.?)?(?:h|hs|hrs|uhr)?$/.exec(word) ?? []
  if (h === '' || (half === '' && !/[:h]/.test(word))) return undefined
  const hour = Number(h)
  if (Number(m) > 59 || hour > 24 || (half !== '' && (hour < 1 || hour > HALF_DAY))) return undefined
  if (half !== '') return exact((hour % HALF_DAY) + (half.startsWith('p') ? HALF_DAY : 0), Number(m))
  // `20h` may be an hour or a time of twenty hours: the reader of the phrase decides.
  if (/^\d{1,2}h$/.test(word)) return { kind: 'hours', n: hour, m: 0, d: 0 }
  if (/h/.test(word)) return { kind: 'hours', n: hour, m: Number(m), d: 0 }
  return /^0\d|^00/.test(word) ? exact(hour, Number(m)) : { kind: 'clock', n: hour, m: Number(m), d: 0 }
}

/** `d` is 1 for an hour that leaves no doubt about the half of the day. */
function exact(n: number, m: number): Numeric {
  return { kind: 'clock', n: n % 24, m, d: 1 }
}

function dateOf(word: string): Numeric | undefined {
  const iso = /^\d{4}-\d{2}-\d{2}t\d{1,2}(?::?\d{2}){0,2}(?:[.,]\d+)?(z|[+-]\d{2}:?\d{0,2})?$/.exec(word)
  if (iso) return isoOf(word, iso[1] !== undefined)
  const [, y = '', mo = '', day = ''] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(word) ?? []
  if (y !== '') return dated(Number(y), Number(mo), Number(day))
  const [, dd = '', mm = '', yyyy = ''] = /^(\d{1,2})-(\d{1,2})-(\d{4})$/.exec(word) ?? []
  if (dd !== '') return dated(Number(yyyy), Number(mm), Number(dd))
  const [, d = '', month = '', year = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?$/.exec(word) ?? []
  if (d !== '') return dated(fullYear(year), Number(month), Number(d))
  const [, first = '', second = '', rest = ''] = /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}|\d{2}))?$/.exec(word) ?? []
  if (first !== '') return slashed(Number(first), Number(second), fullYear(rest))
  const [, h = '', min = ''] = /^(\d{1,2})\.(\d{2})$/.exec(word) ?? []
  return h === '' ? undefined : { kind: 'dotted', n: Number(h), m: Number(min), d: 0 }
}

function isoOf(word: string, zoned: boolean): Numeric | undefined {
  const [day = '', time = ''] = word.toUpperCase().replace(',', '.').split('T', 2)
  const [, clock = '', zone = ''] = /^([\d:.]+)(.*)$/.exec(time) ?? []
  const digits = clock.includes(':') ? clock : clock.replace(/^(\d{2})(\d{2})/, '$1:$2')
  const full = /^\d{1,2}$/.test(digits) ? `${digits}:00` : digits
  const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone
  const at = Date.parse(`${day}T${full.padStart(5, '0')}${zoned ? offset : 'Z'}`)
  return Number.isNaN(at) ? undefined : { kind: 'iso', n: at, m: zoned ? 1 : 0, d: 0 }
}

function dated(n: number, m: number, d: number): Numeric | undefined {
  return m >= 1 && m <= MONTHS && d >= 1 && d <= 31 ? { kind: 'date', n, m, d } : undefined
}

/** `12/5` has two meanings, unless one of its numbers can be no month: `m` and `d` as they stand, `n` the year. */
function slashed(first: number, second: number, year: number): Numeric | undefined {
  if (first > MONTHS) return dated(year, second, first)
  if (second > MONTHS || first === second) return dated(year, first, second)
  return first < 1 || second < 1 ? undefined : { kind: 'slashed', n: year, m: first, d: second }
}

function fullYear(year: string): number {
  return year.length === 2 ? 2000 + Number(year) : Number(year)
}

const SPAN_MS: Readonly<Record<string, number>> = {
  w: 7 * DAY_MS,
  d: DAY_MS,
  j: DAY_MS,
  h: 3_600_000,
  hr: 3_600_000,
  hrs: 3_600_000,
  std: 3_600_000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  mn: 60_000,
  s: 1_000,
  sec: 1_000,
  secs: 1_000,
}

/** `20m`, `2h30m`, `1.5h`, `90min`. */
function spanOf(word: string): Numeric | undefined {
  if (!/^(?:\d{1,6}(?:[.,]\d{1,2})?[a-z]{1,4})+$/.test(word)) return undefined
  let ms = 0
  for (const [, count = '', unit = ''] of word.matchAll(/(\d+(?:[.,]\d+)?)([a-z]+)/g)) {
    const each = SPAN_MS[unit]
    if (each === undefined) return undefined
    ms += Number(count.replace(',', '.')) * each
  }
  return { kind: 'span', n: Math.round(ms), m: 0, d: 0 }
}

/** `5`, `1.5`, `1730`, the ordinals `5th` and `5.`, and `3x`. `d` is the number of digits. */
function countOf(word: string): Numeric | undefined {
  const [, count = '', suffix = ''] =
    /^(\d{1,4}(?:[.,]\d{1,2})?)(st|nd|rd|th|er|re|eme|e|ten|ter|te|x|\.|\u00ba|\u00aa)?$/.exec(word) ?? []
  if (count === '') return undefined
  const n = Number(count.replace(',', '.'))
  if (suffix === 'x') return { kind: 'times', n, m: 0, d: 0 }
  if (suffix !== '' && Number.isInteger(n)) return { kind: 'ordinal', n, m: 1, d: 0 }
  return suffix === '' ? { kind: 'digits', n, m: 0, d: count.length } : undefined
}

/** A place among the tokens of a phrase, which readers move on. */
export class Cursor {
  readonly tokens: readonly Token[]
  /** The place at which the phrase begins. */
  readonly begin: number
  at: number

  constructor(tokens: readonly Token[], begin: number) {
    this.tokens = tokens
    this.begin = begin
    this.at = begin
  }

  peek(ahead = 0): Token | undefined {
    return this.tokens[this.at + ahead]
  }

  kind(ahead = 0): string {
    return this.peek(ahead)?.kind ?? ''
  }

  /** Reads a token of one of these kinds; undefined where there is another. */
  take(...kinds: readonly string[]): Token | undefined {
    const token = this.peek()
    if (token === undefined || !kinds.includes(token.kind)) return undefined
    this.at++
    return token
  }

  /** Reads one of these kinds, or returns to where it was. */
  attempt<T>(read: () => T | undefined): T | undefined {
    const begin = this.at
    const found = read()
    if (found === undefined) this.at = begin
    return found
  }

  /** Reads the first of these that is there. */
  first<T>(...readers: readonly (() => T | undefined)[]): T | undefined {
    for (const read of readers) {
      const found = this.attempt(read)
      if (found !== undefined) return found
    }
    return undefined
  }

  count(): number | undefined {
    return this.take('digits', 'number')?.n
  }
}
