import { expect, it } from 'vitest'
import { type SessionId, toSessionId } from '../../../src/core/ids.ts'
import { createWaitGraph } from '../../../src/sessions/session-tools/wait-graph.ts'

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(toSessionId) as [SessionId, SessionId, SessionId, SessionId]

it('a wait for oneself closes a circle', () => {
  expect(createWaitGraph().closesCircle(A, A)).toBe(true)
})

it('a wait for whoever waits for the one that asks closes a circle, over however many', () => {
  const graph = createWaitGraph()
  graph.begin(A, B)
  graph.begin(B, C)
  expect(graph.closesCircle(B, A)).toBe(true)
  expect(graph.closesCircle(C, A)).toBe(true)
  expect(graph.closesCircle(D, A)).toBe(false)
  expect(graph.closesCircle(C, D)).toBe(false)
})

it('a wait that ended closes nothing', () => {
  const graph = createWaitGraph()
  const end = graph.begin(A, B)
  end()
  expect(graph.closesCircle(B, A)).toBe(false)
})
