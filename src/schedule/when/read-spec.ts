import { isLate, readClock, readZone } from './read-clock.ts'
import { readDay } from './read-day.ts'
import { readDistance } from './read-distance.ts'
import { readExcept, readRepetition } from './read-repetition.ts'
import { isRepeated, type Spec, type TypedMoment } from './spec.ts'
import type { Language } from './time-words.ts'
import { Cursor, type Token } from './tokens.ts'

/** Says which phrases count. */
export interface SpecOptions {
  readonly language: Language
  /** `20 minutes` without `in` is a delay; `an hour`, too, where `words` count. */
  readonly bareDelay?: 'digits' | 'words'
  /** `until` or the like stands before it, so that a bare number is an hour. */
  readonly said?: boolean
  /** `jusqu'au` or the like does, so that a bare number is a day. */
  readonly isDay?: boolean
  /** A repetition stands elsewhere, so that an end alone counts. */
  readonly repeated?: boolean
}

/** Reads the longest phrase about times that begins at a token; undefined where there is none. */
export function readSpec(
  tokens: readonly Token[],
  begin: number,
  options: SpecOptions,
): { readonly spec: Spec; readonly end: number } | undefined {
  const reader = new SpecReader(new Cursor(tokens, begin), options)
  return reader.readAll() ? { spec: reader.spec, end: reader.cursor.at } : undefined
}

const HOUR_OR_LENGTH = 'Is that an hour, or how long from now on? Write `at 8:30`, or `in 8 hours 30 minutes`.'

const EACH_OR_ONCE = 'Once, or each week? Write `every monday evening at 7`, or `monday evening at 7`.'

class SpecReader {
  readonly cursor: Cursor
  readonly spec: Spec = { clocks: [] }
  readonly #options: SpecOptions

  constructor(cursor: Cursor, options: SpecOptions) {
    this.cursor = cursor
    this.#options = options
  }

  /** Returns true where what was read is a time by itself, or completes a repetition that stands elsewhere. */
  readAll(): boolean {
    while (this.#one(() => this.#ofRepetition() || this.#ofMoment()));
    const { clocks, day, delay, unclear, until, times, lasts, starts, part, partSaid } = this.spec
    if (isRepeated(this.spec) || (day ?? delay ?? unclear ?? clocks[0] ?? partSaid) !== undefined) return true
    return this.#options.repeated === true && (until ?? times ?? lasts ?? starts ?? part) !== undefined
  }

  /** Reads a day with its hour, as an end and a beginning are. */
  readMoment(): TypedMoment | undefined {
    while (this.#one(() => this.#day() || this.#clocks() || this.#partOfDay() || this.#zone()));
    return this.cursor.at > this.cursor.begin ? this.spec : undefined
  }

  #ofRepetition(): boolean {
    return this.#end() || this.#except() || this.#window() || this.#start() || this.#repetition()
  }

  #ofMoment(): boolean {
    return this.#delay() || this.#day() || this.#clocks() || this.#partOfDay() || this.#zone()
  }

  /** Reads one part, with a comma before it; leaves everything as it was where there is none. */
  #one(read: () => boolean): boolean {
    return (
      this.cursor.attempt(() => {
        this.cursor.take('comma')
        return read() || undefined
      }) === true
    )
  }

  /** Adds what was read, if anything was. */
  #add(found: Partial<Spec> | undefined): boolean {
    if (found !== undefined) Object.assign(this.spec, found)
    return found !== undefined
  }

  get #isRepeated(): boolean {
    return this.#options.repeated === true || isRepeated(this.spec)
  }

  #repetition(): boolean {
    return this.#add(readRepetition(this.cursor, this.spec, this.#options))
  }

  #except(): boolean {
    return this.#add(readExcept(this.cursor, this.spec))
  }

  /** `until friday`, `3 times`, `for 10 days`. */
  #end(): boolean {
    const { until, times, lasts } = this.spec
    if (!this.#isRepeated || (until ?? times ?? lasts) !== undefined) return false
    return this.#add(
      this.cursor.first<Partial<Spec>>(
        () => this.#until(),
        () => this.#times(),
        () => this.#lasts(),
      ),
    )
  }

  #until(): Partial<Spec> | undefined {
    const word = this.cursor.take('until')
    const until = word && this.#moment(word.n === 1 ? { isDay: true } : { said: true })
    return until && { until }
  }

  #moment(leading: Pick<SpecOptions, 'said' | 'isDay'>): TypedMoment | undefined {
    const { language } = this.#options
    const inner = new SpecReader(new Cursor(this.cursor.tokens, this.cursor.at), { language, ...leading })
    const moment = inner.readMoment()
    this.cursor.at = inner.cursor.at
    const { unclear } = inner.spec
    if (unclear !== undefined) this.spec.unclear = unclear
    return moment
  }

  #times(): Partial<Spec> | undefined {
    this.cursor.take('for')
    const word = this.cursor.take('times')
    if (word) return word.n > 0 ? { times: word.n } : undefined
    const times = this.cursor.count()
    return times !== undefined && this.cursor.take('times') ? { times } : undefined
  }

  #lasts(): Partial<Spec> | undefined {
    const before = this.cursor.take('for')
    const lasts = readDistance(this.cursor)
    if (lasts === undefined) return undefined
    return (before ?? this.cursor.take('for')) ? { lasts } : undefined
  }

  /** `starting monday`, `ab morgen`. */
  #start(): boolean {
    if (!this.#isRepeated || this.spec.starts !== undefined) return false
    return this.#add(
      this.cursor.attempt(() => {
        const starts = this.cursor.take('from') && this.#moment({})
        return starts?.day === undefined ? undefined : { starts }
      }),
    )
  }

  /** `between 9 and 17`, `from 9:00 to 17:00`. */
  #window(): boolean {
    if (!this.#isRepeated || this.spec.window !== undefined) return false
    return this.#add(
      this.cursor.attempt(() => {
        if (!this.cursor.take('between', 'from', 'of')) return undefined
        const from = this.#hourOfWindow()
        // `a` is both `to` and `at` in French and Spanish.
        const to = from && this.cursor.take('and', 'to', 'at', 'until') ? this.#hourOfWindow() : undefined
        return from && to ? { window: [from, to] as const } : undefined
      }),
    )
  }

  #hourOfWindow() {
    this.cursor.take('at')
    return readClock(this.cursor, { said: true, inWindow: true, language: this.#options.language })
  }

  #delay(): boolean {
    const { delay, day, clocks } = this.spec
    if (delay !== undefined || day !== undefined || clocks.length > 0 || this.#isRepeated) return false
    return this.#add(
      this.cursor.attempt(() => {
        const isSaid = this.cursor.take('in') !== undefined
        const isBare = !isSaid && this.#mayBeBareDelay()
        const isHourToo = this.cursor.kind() === 'hours' && (this.cursor.peek()?.m ?? 0) > 0
        const found = readDistance(this.cursor)
        if (found === undefined) return undefined
        if (isSaid || this.cursor.take('fromnow') !== undefined) return { delay: found }
        if (isBare && isHourToo) return { delay: found, unclear: HOUR_OR_LENGTH }
        return isBare ? { delay: found, bareDelay: true as const } : undefined
      }),
    )
  }

  /** `20 minutes` at the beginning; `17h` there is an hour. */
  #mayBeBareDelay(): boolean {
    const { bareDelay } = this.#options
    const token = this.cursor.peek()
    if (bareDelay === undefined || this.cursor.at !== this.cursor.begin) return false
    if (token?.kind === 'hours') return !isLate(token.n)
    return bareDelay === 'words' || token?.kind !== 'number'
  }

  #day(): boolean {
    const { day, delay } = this.spec
    if (day !== undefined || delay !== undefined) return false
    return this.#add(readDay(this.cursor, this.#options))
  }

  #clocks(): boolean {
    const { clocks, day } = this.spec
    if (clocks.length > 0 || day?.kind === 'iso') return false
    const dated = day !== undefined || this.#isRepeated
    const first = this.cursor.attempt(() =>
      readClock(this.cursor, { said: this.#isSaid(), dated, language: this.#options.language }),
    )
    if (first === undefined) return false
    clocks.push(first)
    while (this.#moreClocks());
    return true
  }

  /** Reads `at`, or knows that `until` stands before the first hour. */
  #isSaid(): boolean {
    const isFirst = this.cursor.at === this.cursor.begin && this.#options.said === true
    return this.cursor.take('at') !== undefined || isFirst
  }

  /** Reads the second hour of `at 8 and 20`; `at 8 and 2 eggs` has one. */
  #moreClocks(): boolean {
    const { cursor, spec } = this
    const more = cursor.attempt(() => {
      if (!cursor.take('and', 'comma')) return undefined
      cursor.take('and')
      const isSaid = cursor.take('at') !== undefined
      const found = readClock(cursor, { said: true, language: this.#options.language })
      return isSaid || this.#isRepeated || !['word', 'unit'].includes(cursor.kind()) ? found : undefined
    })
    if (more !== undefined) spec.clocks.push(more)
    return more !== undefined
  }

  #partOfDay(): boolean {
    const { cursor, spec } = this
    if (spec.part !== undefined) return false
    const isNew = cursor.at === cursor.begin && this.#options.repeated !== true
    return this.#add(
      cursor.attempt(() => {
        const isSaid = cursor.take('on', 'at', 'this') !== undefined || cursor.peek()?.word.includes(' ') === true
        const part = cursor.take('part', 'parts')
        if (part === undefined || (isNew && !isSaid)) return undefined
        const isOpen = part.kind === 'parts' && spec.day !== undefined && !this.#isRepeated
        return {
          part: part.n,
          ...(isSaid ? { partSaid: true as const } : {}),
          ...(isOpen ? { unclear: EACH_OR_ONCE } : {}),
        }
      }),
    )
  }

  #zone(): boolean {
    const { clocks, day, zone } = this.spec
    if (zone !== undefined || (clocks.length === 0 && day?.kind !== 'iso')) return false
    return this.#add(readZone(this.cursor))
  }
}
