import { expect, test } from 'vitest'
import { decideSlots, ON_TIME_MS } from '../../src/schedule/decide-slots.ts'

const NOW = 10_000_000
const [OLD, LATE, EDGE, FRESH] = [NOW - 5_000_000, NOW - ON_TIME_MS - 1, NOW - ON_TIME_MS, NOW]

test.each([
  { name: 'skip', policy: { kind: 'skip' }, due: [OLD, LATE], run: [], missed: [OLD, LATE] },
  { name: 'once', policy: { kind: 'once' }, due: [OLD, LATE], run: [LATE], missed: [OLD] },
  { name: 'once, one on time', policy: { kind: 'once' }, due: [OLD, FRESH], run: [FRESH], missed: [OLD] },
  { name: 'all(1)', policy: { kind: 'all', most: 1 }, due: [OLD, LATE], run: [LATE], missed: [OLD] },
  { name: 'all(9)', policy: { kind: 'all', most: 9 }, due: [OLD, LATE, FRESH], run: [OLD, LATE, FRESH], missed: [] },
  { name: 'skip, a minute late', policy: { kind: 'skip' }, due: [EDGE, FRESH], run: [EDGE, FRESH], missed: [] },
  { name: 'nothing due', policy: { kind: 'once' }, due: [], run: [], missed: [] },
] as const)('$name', ({ policy, due, run, missed }) => {
  expect(decideSlots(due, NOW, policy)).toEqual({ run, missed })
})
