import { expect, test } from 'vitest'
import { OPEN_MS, WAITS_MS } from '../../src/core/approval.ts'
import type { Question } from '../../src/core/question.ts'
import { overBy } from '../../src/questions/still-open.ts'
import type { Store } from '../../src/store/store.ts'

const NOW = 1_000_000_000

interface Around {
  readonly turn?: string
  readonly inactiveAt?: number
}

function over(question: Partial<Question>, { turn = 'running', inactiveAt }: Around = {}) {
  const read = {
    turns: { get: async () => ({ state: turn }) },
    sessions: { get: async () => ({ inactiveAt }) },
  } as unknown as Store['read']
  return overBy({ read }, { state: 'asked', late: false, askedAt: NOW, ...question } as Question, NOW)
}

test('F-H07: a question is open while its turn runs, and after it went on without the answer', async () => {
  expect(await over({})).toBeUndefined()
  expect(await over({ late: true }, { turn: 'done' })).toBeUndefined()
  expect(await over({ state: 'answered' })).toBe('answered')
})

test('F-H07: a question is over with its turn, and with its conversation, also one that is late', async () => {
  expect(await over({}, { turn: 'done' })).toBe('ended')
  expect(await over({ late: true }, { turn: 'cancelled' })).toBe('ended')
  expect(await over({ late: true }, { turn: 'quarantined' })).toBe('ended')
  expect(await over({ late: true }, { turn: 'done', inactiveAt: NOW })).toBe('ended')
})

test('S8: a question is too old after ten minutes, that of a server once its call went on or two minutes have passed', async () => {
  expect(await over({ late: true, askedAt: NOW - OPEN_MS })).toBeUndefined()
  expect(await over({ late: true, askedAt: NOW - OPEN_MS - 1 })).toBe('too_old')
  expect(await over({ server: 'one', askedAt: NOW - WAITS_MS })).toBeUndefined()
  expect(await over({ server: 'one', askedAt: NOW - WAITS_MS - 1 })).toBe('too_old')
  expect(await over({ server: 'one', late: true })).toBe('too_old')
})
