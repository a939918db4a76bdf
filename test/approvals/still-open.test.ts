import { expect, test } from 'vitest'
import { overBy } from '../../src/approvals/still-open.ts'
import { type Approval, OPEN_MS } from '../../src/core/approval.ts'
import type { Store } from '../../src/store/store.ts'

const NOW = 1_000_000_000

function over(approval: Partial<Approval>, turn = 'running', inactiveAt?: number) {
  const read = {
    turns: { get: async () => ({ state: turn }) },
    sessions: { get: async () => ({ inactiveAt }) },
  } as unknown as Store['read']
  return overBy({ read }, { state: 'asked', late: false, askedAt: NOW, ...approval } as Approval, NOW)
}

test('S8: a question about a call is open while its turn runs, and for ten minutes after the turn went on', async () => {
  expect(await over({})).toBeUndefined()
  expect(await over({ late: true }, 'done')).toBeUndefined()
  expect(await over({ late: true, askedAt: NOW - OPEN_MS }, 'done')).toBeUndefined()
  expect(await over({ late: true, askedAt: NOW - OPEN_MS - 1 }, 'done')).toBe('too_old')
  expect(await over({ state: 'used' })).toBe('answered')
})

test('S8: a question about a call is over with its turn and its conversation', async () => {
  expect(await over({}, 'done')).toBe('ended')
  for (const state of ['cancelled', 'quarantined']) expect(await over({ late: true }, state)).toBe('ended')
  expect(await over({ late: true }, 'done', NOW)).toBe('ended')
})
