import { expect, test } from 'vitest'
import type { TraceId } from '../../../src/core/ids.ts'
import type { TurnResult } from '../../../src/core/turn.ts'
import { turnLine } from '../../../src/sessions/turns/turn-line.ts'

const session = { displayKey: 'telegram:group:-100', chatType: 'group', metadata: { chat_title: 'Club' } } as const
const turn = { session, traceId: 'trace-1' as TraceId, startedAt: 1_000 }
const answer = (text: string): TurnResult => ({
  kind: 'final',
  text,
  model: 'scripted/echo',
  usage: { input: 10, output: 5 },
  steps: 1,
})

test('an answer is one line, with where, how long and what it cost, and none of its words', () => {
  const line = turnLine(turn, answer('the secret plan'), 1_250)
  expect(line).toMatchObject({
    sentence: 'Answered',
    fields: { where: 'Club', ms: 250, tokens: 15, traceId: 'trace-1' },
  })
  expect(JSON.stringify(line)).not.toContain('secret')
})

test('silence is said as such', () => {
  expect(turnLine(turn, answer('<NO_REPLY>'), 1_250)?.sentence).toBe('The agent chose to say nothing')
})

test('a clock that was set back makes no time negative', () => {
  expect(turnLine(turn, answer('yes'), 0)?.fields.ms).toBe(0)
})

test('a turn without an answer has no such line', () => {
  const ended = { kind: 'aborted', usage: { input: 0, output: 0 }, steps: 0 } as const
  expect(turnLine(turn, ended, 2_000)).toBeUndefined()
})
