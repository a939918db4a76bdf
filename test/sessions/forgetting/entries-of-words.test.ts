import { expect, it } from 'vitest'
import { type ScheduleId, toSessionId } from '../../../src/core/ids.ts'
import { repeats, Tellings } from '../../../src/core/repeats.ts'
import { entriesFound, tellMade } from '../../../src/sessions/forgetting/entries-of-words.ts'
import { MadeByCalls } from '../../../src/sessions/forgetting/made-by-calls.ts'
import { isScheduleOf } from '../../../src/sessions/forgetting/made-of-words.ts'

const HERE = toSessionId('telegram:2026-11-23-00000001')
const [ADA, BO] = ['telegram:111', 'telegram:222']

interface Given {
  readonly entries?: readonly object[]
  readonly corrected?: readonly object[]
  readonly ofCommands?: readonly object[]
  /** The reminder that goes. */
  readonly reminder?: object
}

/** What Ada has said goes, before 10. */
function parts({ entries = [], corrected = [], ofCommands = [], reminder = { prompt: 'tea' } }: Given) {
  const made = new MadeByCalls()
  made.corrected = async () => corrected as never
  made.reminders = async () => [{ id: 'r1' as ScheduleId, definition: reminder, createdAt: 1 }] as never
  const read = {
    memory: {
      newest: async () => entries,
      ofCommands: async () => ofCommands,
      get: async (no: number) => entries.find((one) => 'no' in one && one.no === no),
    },
    forgetting: { entriesOf: async () => [] },
  }
  const target = { kind: 'session', sessions: [HERE], before: 10 }
  const words = { target, tellings: new Tellings(), authors: new Set([ADA]) }
  const scan = { session: { id: HERE, scope: { values: {} } }, messages: [], calls: [] }
  const all = { words, rows: ['in_1'], scans: [scan], turns: new Map(), made, pause: async () => {} }
  return { read: read as never, all: all as never, made }
}

it('S41: of a conversation that goes as a whole the entries go that are from before', async () => {
  const entry = (no: number, at: number) => ({ no, at, text: `entry ${no}`, authors: [BO] })
  const { read, all } = parts({ entries: [entry(1, 9), entry(2, 10)] })
  expect(await entriesFound(read, all)).toEqual([1])
})

it('S41: a correction goes where nobody else has words in the entry', async () => {
  const { read, all } = parts({
    corrected: [
      { no: 1, authors: [ADA] },
      { no: 2, authors: [ADA, BO] },
    ],
  })
  expect(await entriesFound(read, all)).toEqual([1])
})

it('S41: answers that have shown a reminder which goes are known by its id', async () => {
  const { read, all, made } = parts({})
  await tellMade(read, all)
  expect(made.isShownIn({ source: 'in_1', text: '/remind cancel r1 ends it' } as never)).toBe(true)
})

it('S41: the entry of a command goes while whoever gave that has a part in it', async () => {
  const ofCommands = [
    { no: 1, authors: [ADA, BO] },
    { no: 2, authors: [BO] },
  ]
  const { read, all } = parts({ ofCommands })
  expect(await entriesFound(read, all)).toEqual([1])
})

it.each([
  [undefined, true],
  [[ADA, BO], true],
  [[BO], false],
])('S41: a reminder that repeats the words goes, unless it is made of those of others alone: %j', (authors, goes) => {
  const { all } = parts({})
  const { words } = all as unknown as { readonly words: Parameters<typeof isScheduleOf>[0] }
  words.tellings.add('the gate opens with zq9canary-4711 after dark', 1)
  const definition = { prompt: 'zq9canary-4711', ...(authors && { authors }) }
  expect(isScheduleOf(words, { source: 'command', definition, createdAt: 20 } as never)).toBe(goes)
})

it.each([
  [[ADA], true],
  [[ADA, BO], false],
])(
  'S41: what is made of the words is known when others repeat it, unless it has words of others: %j',
  async (authors, known) => {
    const text = 'the gate opens with zq9canary-4711 after dark'
    for (const given of [{ entries: [{ no: 1, at: 1, text, authors }] }, { reminder: { prompt: text, authors } }]) {
      const { read, all } = parts(given)
      await tellMade(read, all)
      const { words } = all as unknown as { readonly words: { readonly tellings: Tellings } }
      expect(repeats(words.tellings, 'zq9canary-4711', 20)).toBe(known)
    }
  },
)
