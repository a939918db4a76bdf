import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wallTimeAt } from '../../../src/core/wall-time.ts'
import { nextSlots } from '../../../src/schedule/slots.ts'
import { readTyped } from '../../../src/schedule/when/read-when.ts'
import { runs } from '../../sample.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const TEXTS = [
  'call mum',
  'take 2 pills',
  'bins',
  'water the plants, all of them',
  'buy 3 eggs and milk',
  'read the report',
]
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Australia/Lord_Howe', 'UTC']

/** One way to say something in a language, with what a person means by it in wall time. */
interface Phrase {
  readonly words: string
  /** Returns the first times after now; wall times as if in UTC. */
  means(now: number, count: number): readonly number[]
}

const LANGUAGES = {
  en: {
    ...{ days: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] },
    ...{
      at: 'at',
      every: 'every',
      and: 'and',
      tomorrow: 'tomorrow',
      daily: 'every day',
      inDays: (n: number) => `in ${n} days`,
    },
  },
  de: {
    ...{ days: ['Sonntag', 'Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag'] },
    ...{
      at: 'um',
      every: 'jeden',
      and: 'und',
      tomorrow: 'morgen',
      daily: 'jeden Tag',
      inDays: (n: number) => `in ${n} Tagen`,
    },
  },
  fr: {
    ...{ days: ['dimanche', 'lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi'] },
    ...{
      at: 'à',
      every: 'chaque',
      and: 'et',
      tomorrow: 'demain',
      daily: 'tous les jours',
      inDays: (n: number) => `dans ${n} jours`,
    },
  },
  es: {
    ...{ days: ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado'] },
    ...{
      at: 'a las',
      every: 'cada',
      and: 'y',
      tomorrow: 'mañana',
      daily: 'todos los días',
      inDays: (n: number) => `en ${n} días`,
    },
  },
} as const

const dayOf = (wall: number): number => Math.floor(wall / DAY_MS) * DAY_MS

/** Returns the next wall times at an hour on the days that match. */
function walk(now: number, count: number, hour: number, matches: (day: Date) => boolean): readonly number[] {
  const found: number[] = []
  for (let day = dayOf(now); found.length < count; day += DAY_MS)
    if (matches(new Date(day)) && day + hour > now) found.push(day + hour)
  return found
}

const phrases = fc
  .record({
    language: fc.constantFrom('en', 'de', 'fr', 'es' as const),
    h: fc.constantFrom(7, 8, 10, 13, 17, 20, 23),
    m: fc.constantFrom(0, 5, 30, 45),
    one: fc.integer({ min: 0, max: 2 }),
    two: fc.integer({ min: 3, max: 6 }),
    n: fc.constantFrom(2, 3, 10),
    kind: fc.integer({ min: 0, max: 7 }),
  })
  .map(({ language, h, m, one, two, n, kind }): Phrase => {
    const { days, at, every, and, tomorrow, daily, inDays } = LANGUAGES[language as keyof typeof LANGUAGES]
    const hour = h * HOUR_MS + m * 60_000
    const is24 = language === 'de' || language === 'fr'
    const clock = `${at} ${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`
    const on =
      (...wanted: readonly number[]) =>
      (day: Date) =>
        wanted.includes(day.getUTCDay())
    const both = (now: number, count: number) => walk(now, count, hour, on(one, two))
    const all: readonly Phrase[] = [
      { words: `${tomorrow} ${clock}`, means: (now) => [dayOf(now) + DAY_MS + hour] },
      { words: `${inDays(n)} ${clock}`, means: (now) => [dayOf(now) + n * DAY_MS + hour] },
      { words: `${days[one]} ${clock}`, means: (now) => walk(now, 1, hour, on(one)) },
      // Without a day, ten o'clock is the next that comes, as a clock of twelve hours shows it.
      {
        words: clock,
        means: (now) => [
          Math.min(
            ...(h < 10 || h > 12 || is24 ? [hour] : [hour, hour + 12 * HOUR_MS]).map(
              (one) => walk(now, 1, one, () => true)[0] as number,
            ),
          ),
        ],
      },
      { words: `${daily} ${clock}`, means: (now, count) => walk(now, count, hour, () => true) },
      { words: `${every} ${days[two]} ${clock}`, means: (now, count) => walk(now, count, hour, on(two)) },
      { words: `${every} ${days[one]} ${and} ${days[two]} ${clock}`, means: both },
      { words: `${every} ${days[one]}, ${days[two]} ${clock}`, means: both },
    ]
    return all[kind] as Phrase
  })

const places: readonly ((words: string, text: string) => string)[] = [
  (words, text) => `${words} ${text}`,
  (words, text) => `${text} ${words}`,
  (words, text) => `me ${words} to ${text}`,
  (words, text) => `${words.toUpperCase()} ${text}`,
]

/** No clock changes in the weeks that follow: `slots-property.test.ts` has these. */
const BEGIN = Date.UTC(2026, 10, 10)
const moments = fc.integer({ min: BEGIN, max: BEGIN + 60 * DAY_MS })

const typing = fc.record({
  timezone: fc.constantFrom(...ZONES),
  text: fc.constantFrom(...TEXTS),
  place: fc.constantFrom(...places),
})

test('a wish of a known meaning has it, before and behind the text, and no word of the text is lost', () => {
  fc.assert(
    fc.property(phrases, moments, typing, ({ words, means }, now, { timezone, text, place }) => {
      const typed = place(words, text)
      const found = readTyped(typed, { now, timezone })
      if (found === undefined) throw new Error(`nothing in "${typed}"`)
      const count = 'at' in found.timing ? 1 : 5
      const wall = nextSlots(found.timing, now, count).map((slot) => wallTimeAt(timezone, slot))
      expect([typed, found.text, wall]).toEqual([typed, text, means(wallTimeAt(timezone, now), count)])
    }),
    runs(2_000, 200),
  )
})
