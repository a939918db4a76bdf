import { expect, it } from 'vitest'
import { type ScheduleId, toSessionId } from '../../../src/core/ids.ts'
import { Tellings } from '../../../src/core/repeats.ts'
import { entriesFound, tellMade } from '../../../src/sessions/forgetting/entries-of-words.ts'
import { MadeByCalls } from '../../../src/sessions/forgetting/made-by-calls.ts'
import { isScheduleOf } from '../../../src/sessions/forgetting/made-of-words.ts'

const HERE = toSessionId('telegram:2026-11-23-00000001')
const [ADA, BO] = ['telegram:111', 'telegram:222']

interface Given {
  readonly entries?: readonly object[]
  readonly corrected?: readonly object[]
  readonly ofCommands?: readonly object[]
}

/** What Ada has said goes, before 10. */
function parts({ entries = [], corrected = [], ofCommands = [] }: Given) {
  const made = new MadeByCalls()
  made.corrected = async () => corrected as never
  made.reminders = async () => [{ id: 'r1' as ScheduleId, definition: { prompt: 'tea' }, createdAt: 1 }] as never
  const read = {
    memory: { newest: async () => entries, ofCommands: async () => ofCommands, get: async () => undefined },
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
