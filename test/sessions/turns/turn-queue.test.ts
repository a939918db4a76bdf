import { expect, it } from 'vitest'
import { toSessionId } from '../../../src/core/ids.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'

const sessions = Array.from({ length: 1_000 }, (_, no) => toSessionId(`telegram:${no}`))

it('K38: sessions share no lock, and one has an entry in memory for as long as it has a turn', () => {
  const queue = createTurnQueue(2)
  const undo: (() => void)[] = []
  const tx = { afterUndo: (revert: () => void) => void undo.push(revert) }
  for (const session of sessions) {
    expect(queue.peek(session)).toBe('start')
    queue.admit(session, tx)
  }
  const [first = toSessionId(''), second = toSessionId('')] = sessions
  for (let waiting = 0; waiting < 5; waiting++) queue.admit(first, tx)
  expect([queue.peek(first), queue.peek(second)]).toEqual(['full', 'wait'])
  for (const session of sessions) queue.free(session, tx)
  expect(sessions.filter(queue.busy)).toEqual([])
  // Every change of a commit that is undone is reverted, the newest first.
  for (const revert of undo.reverse()) revert()
  expect(sessions.filter(queue.busy)).toEqual([])
})
