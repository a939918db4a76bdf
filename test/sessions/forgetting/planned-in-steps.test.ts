import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../src/core/event.ts'
import { type TurnId, toSessionId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import { pausing } from '../../../src/sessions/forgetting/forget-reader.ts'
import type { Matches } from '../../../src/sessions/forgetting/matches.ts'
import { OwnTexts } from '../../../src/sessions/forgetting/own-quotes.ts'
import { SessionScan } from '../../../src/sessions/forgetting/scan-session.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { shownAgain } from './shown-again.ts'

const EVENTS = 60_000

const everything: Matches = {
  ...{ isMessage: () => true, quotes: () => false, isWhole: () => true },
  ...{ isReceived: () => true, isSent: () => true, moves: [] },
}

it('S41: a plan of many events is made in steps, between which others have their turn', async () => {
  const id = toSessionId('telegram:2026-11-23-00000001')
  const session = { id, description: '', descriptionSource: 'fallback', lastActivityAt: 1 } as Session
  const scan = new SessionScan({
    session,
    origins: [{ upTo: EVENTS, session: id, log: id, joined: false, heldIn: [] }],
    matches: everything,
    again: shownAgain(),
  })
  const turn = (seq: number) => `turn_${Math.ceil(seq / 2)}` as TurnId
  scan.follow(
    Array.from({ length: EVENTS }, (_, index): SessionEvent => {
      const seq = index + 1
      return { seq, at: 1, type: 'assistant_message', turnId: turn(seq), data: { text: 'x' } } as SessionEvent
    }),
  )
  let pauses = 0
  const plan = await pausing(
    scan.plan(
      { own: new OwnTexts(CHANNELS), posts: new Set<string>(), titles: new Set(), entry: false, isUnnamed: false },
      { turn: turn(EVENTS), messages: [] },
    ),
    async () => {
      pauses++
    },
  )
  expect(plan?.empty).toHaveLength(EVENTS - 2)
  expect(plan?.empty.slice(0, 2)).toEqual([EVENTS - 2, EVENTS - 3])
  expect(plan?.running?.empty).toEqual([EVENTS, EVENTS - 1])
  expect(pauses).toBeGreaterThanOrEqual((2 * EVENTS) / 5_000)
})
