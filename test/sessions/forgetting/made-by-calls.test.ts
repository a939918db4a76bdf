import { describe, expect, it } from 'vitest'
import { copiedTurnId, type InboxId, type ScheduleId, type TurnId, toSessionId } from '../../../src/core/ids.ts'
import { callKey, idOfRequest, requestOf } from '../../../src/core/schedule.ts'
import { MadeByCalls } from '../../../src/sessions/forgetting/made-by-calls.ts'
import type { Received } from '../../../src/sessions/forgetting/matches.ts'
import type { SessionScan } from '../../../src/sessions/forgetting/scan-session.ts'
import type { ReceivedRow } from '../../../src/store/forget-port.ts'
import { command, dispatchOf, message } from '../../fakes/dispatch.ts'

const HERE = toSessionId('telegram:2026-11-23-00000001')
const COPY = toSessionId('telegram:2026-11-23-00000002')
const TURN = 'turn_1' as TurnId
const ADA = 'telegram:111'

/** Ada’s commands, which go. */
function commands(...given: readonly (readonly [name: string, args: string])[]): MadeByCalls {
  const made = new MadeByCalls()
  for (const [at, [name, args]] of given.entries()) {
    const id = `in_${at}` as InboxId
    const row = { id, dispatch: dispatchOf(command(name, { args })), decision: { identity: { person: 'ada' } } }
    made.note(row as unknown as ReceivedRow, { id, author: ADA } as Received)
  }
  return made
}

/** A log of which nothing was read yet. */
const log = (kind = 'scope', calls: SessionScan['calls'] = []): SessionScan =>
  ({ session: { source: { kind } }, turns: new Map(), copied: new Set(), tasks: new Set(), calls }) as never

describe('S41: an answer to a command', () => {
  const shown = (made: MadeByCalls, text: string, source = 'in_9'): boolean =>
    made.isShownIn({ source: source as InboxId, sessionId: HERE, text })

  it('shows an entry by its number and its first words; what a turn has said is known by its words alone', () => {
    const made = commands()
    made.listEntry({ no: 2, text: 'Bo gets a kite for his birthday' })
    expect(shown(made, '#2 Bo gets a kite for …')).toBe(true)
    expect(shown(made, '#2 in the queue is Cy')).toBe(false)
    expect(shown(made, '#3 Bo gets a kite for …')).toBe(false)
    expect(shown(made, '#2 Bo gets a kite for …', TURN)).toBe(false)
  })

  it('shows a reminder by its id, also one that is over', () => {
    const made = commands(['remind', '2h tea'])
    const id = idOfRequest(requestOf('in_0'))
    expect(shown(made, `/remind cancel ${id} ends it`)).toBe(true)
    expect(shown(made, '/remind cancel rother ends it')).toBe(false)
    expect(shown(made, `/remind cancel ${id} ends it`, TURN)).toBe(false)
  })
})

it('S41: a card of no session names an applicant by their id and their name', async () => {
  const made = commands()
  const find = async (key: string) => ({ name: key === 'telegram:9' ? 'Mallory' : '' })
  await made.nameApplicants({ admissions: { find } } as never, ['telegram:9', 'telegram:8'])
  const shown = (text: string, of = {}): boolean => made.isShownIn({ source: 'note_1', text, ...of } as never)
  expect(shown('telegram:9 (Mallory) asks')).toBe(true)
  expect(shown('telegram:9 asks')).toBe(false)
  expect(shown('telegram:8 asks')).toBe(false)
  // Another id may begin like it.
  expect(shown('telegram:99 (Mallory) asks')).toBe(false)
  expect(shown('telegram:99 asks, after telegram:9 (Mallory)')).toBe(true)
  expect(shown('telegram:9 (Mallory) asks', { sessionId: HERE })).toBe(false)
})

it.each([
  [ADA, true],
  ['telegram:444', false],
])(
  'S41: a turn was shown the answer of whoever has given it, however the code is spelled: %s',
  async (author, goes) => {
    const made = commands(['answer', 'Ab12 yes'])
    const get = async (code: string) =>
      code === 'ab12' ? { by: { author }, sessionId: HERE, turnId: TURN, askedAt: 5 } : undefined
    const [own, copy] = [log(), log()]
    const scans = new Map([
      [HERE, own],
      [COPY, copy],
    ])
    await made.addAnswered({ questions: { get } } as never, scans)
    expect([...own.turns]).toEqual(goes ? [[TURN, 5]] : [])
    expect([...copy.copied]).toEqual(goes ? [copiedTurnId(TURN, COPY)] : [])
  },
)

it.each([
  ['task', TURN, ['in_5']],
  ['task', 'turn_2', []],
  ['scope', TURN, []],
])('S41: what a turn has said to a session of kind %s, by %s, began a task for it: %j', (kind, by, found) => {
  const made = commands()
  const dispatch = { ...dispatchOf(message()), origin: 'tool', posted: { turn: by } }
  made.noteSent({ id: 'in_5', dispatch } as never, () => ({ id: 'in_5', sessionId: HERE }) as Received)
  expect([...made.tasksOf(new Map([[TURN, 1]]), new Map([[HERE, log(kind)]])).keys()]).toEqual(found)
})

describe('S41: the runs of a reminder that a turn has made', () => {
  const made = (by: TurnId): ScheduleId => idOfRequest(requestOf(callKey(by, 'c1')))
  const scans = new Map([[HERE, log('scope', [[TURN, 'c1']])]])
  const run = (of: ScheduleId, person: string) => {
    const all = commands(['title', 'roses'])
    const dispatch = { ...dispatchOf(message()), schedule: { id: of, creator: { person } } }
    all.noteSent({ id: 'in_5', dispatch } as never, () => ({ id: 'in_5', sessionId: HERE }) as Received)
    return all
  }

  it('go with it where it was made for whoever wrote what goes, with what has shown the reminder', () => {
    const all = run(made(TURN), 'ada')
    expect([...all.tasksOf(new Map([[TURN, 1]]), scans).keys()]).toEqual(['in_5'])
    expect(all.isShownIn({ source: 'in_9' as InboxId, text: `/remind cancel ${made(TURN)}` } as never)).toBe(true)
  })

  it('stay where it was made for somebody else, where its turn stays, and where it is another reminder', () => {
    const going = new Map([[TURN, 1]])
    expect(run(made(TURN), 'bo').tasksOf(going, scans).size).toBe(0)
    expect(run(made(TURN), 'ada').tasksOf(new Map(), scans).size).toBe(0)
    expect(run(made('turn_2' as TurnId), 'ada').tasksOf(going, scans).size).toBe(0)
  })
})

it('S41: a correction goes while the entry still has its words', async () => {
  const made = commands(['memory', 'correct #2 the tea is green'])
  const left = (text: string) => made.corrected({ memory: { get: async (no: number) => ({ no, text }) } } as never)
  expect(await left('the tea is green')).toMatchObject([{ no: 2 }])
  expect(await left('the tea is black')).toEqual([])
})

it('S41: a reminder goes that its command has made for whoever gave it, and what it has made for others is theirs', async () => {
  const made = commands(['remind', '2h tea'])
  const reminder = (creator: string | undefined, request: string) => ({
    id: `${creator} ${request}`,
    creator,
    definition: { request },
  })
  const mine = reminder('ada', requestOf('in_0'))
  const all = [
    mine,
    reminder('bo', requestOf('in_0')),
    reminder(undefined, requestOf('in_0')),
    reminder('ada', requestOf('in_9')),
  ]
  const going = { scans: [log()], turns: new Map<TurnId, number>() }
  expect(await made.reminders({ schedules: { all: async () => all } } as never, going)).toEqual([mine])
})
