import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toSessionId } from '../../src/core/ids.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import { createPieceWaits } from '../../src/pipeline/gather-pieces.ts'

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
