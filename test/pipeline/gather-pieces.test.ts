import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toSessionId } from '../../src/core/ids.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import { createPieceWaits, gatherPieces, type PiecesDeps } from '../../src/pipeline/gather-pieces.ts'
import type { StartedTurn } from '../../src/sessions/turns/started-turn.ts'
import { movedClock } from '../agent/moved-clock.ts'

const SESSION = toSessionId('sess:1')
/** Nobody waits here until a time has come. */
const clock = { ...systemClock, after: () => () => {} }
const piece = (of: string, more: boolean): InboundEvent =>
  ({ kind: 'message', piece: { of, more } }) satisfies Partial<InboundEvent> as InboundEvent

it('C4: a turn waits for the rest of its text until the last piece has come, and no longer', async () => {
  const waits = createPieceWaits(clock)
  let isOver = false
  const waiting = waits.wait(SESSION, 'one', 1_000, new AbortController().signal).then(() => {
    isOver = true
  })
  waits.came(SESSION, piece('one', true))
  waits.came(SESSION, piece('other', false))
  waits.came(toSessionId('sess:2'), piece('one', false))
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  waits.came(SESSION, piece('one', false))
  await waiting
})

/** Starts a turn whose message came `ms` ago, as the first piece of one that goes on; `ends` resolves once it goes on. */
function turnWaiting(ms: number, resumed = false) {
  const time = movedClock()
  const waits = createPieceWaits(time)
  const write = async (): Promise<readonly unknown[]> => []
  const deps = { store: { write }, clock: time, transcript: { view: async () => ({ running: { steps: [] } }) } }
  const asked = { at: time.now() - ms, piece: { of: 'one', more: true } }
  const turn = { id: 'turn', session: { id: SESSION }, asked, resumed } as unknown as StartedTurn
  const ends = gatherPieces({ ...deps, pieces: waits } as unknown as PiecesDeps, turn, new AbortController().signal)
  return { time, ends }
}

it.each([
  ['that has just come', 0, 1_000],
  ['that came 400 ms ago', 400, 600],
  ['whose platform is an hour ahead', -3_600_000, 1_000],
])('C4: a turn waits a second and no longer from the first piece on, here one %s', async (_, ago, rest) => {
  const { time, ends } = turnWaiting(ago)
  await time.timerOf(rest)
  time.advance(rest)
  await ends
  expect(time.pending()).toBe(0)
})

it('C4: a turn whose first piece came more than a second ago does not wait', async () => {
  const { time, ends } = turnWaiting(1_000)
  await ends
  expect(time.pending()).toBe(0)
})

it('C4: a turn that resumes waits three seconds, whatever has passed', async () => {
  const { time, ends } = turnWaiting(60_000, true)
  await time.timerOf(3_000)
  time.advance(3_000)
  await ends
})
