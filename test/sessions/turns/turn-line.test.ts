import { expect, test } from 'vitest'
import { NO_USAGE } from '../../../src/core/model.ts'
import type { TurnResult } from '../../../src/core/turn.ts'
import { askedIn } from '../../../src/sessions/turns/started-turn.ts'
import { type TurnLine, turnLine } from '../../../src/sessions/turns/turn-line.ts'
import { endingOf, type ReplyFate } from '../../../src/sessions/turns/turn-reply.ts'
import { decisionOf, dispatchOf } from '../../store/sample-rows.ts'

const AT = 1_800_000_000_000
const session = { displayKey: 'telegram:group:-1001', chatType: 'group', metadata: { chat_title: 'Club' } } as const
const decision = decisionOf(1)
const dispatch = { ...dispatchOf(1, 1), receivedAt: AT }

function lineOf(result: TurnResult, fate?: ReplyFate, rows = [{ dispatch, decision }]): TurnLine | undefined {
  const turn = { session, traceId: dispatch.traceId, startedAt: AT, ...askedIn(rows) }
  return turnLine(turn, result, endingOf(result, fate), AT + 1_200)
}

const said = (text: string): TurnResult => ({
  ...{ kind: 'final', text, model: 'm', steps: 1 },
  usage: { input: 10, output: 5 },
})

test('an answer is one line: where, for whom, how long after the message, what it cost, and none of its words', () => {
  const line = lineOf(said('the secret plan'), 'planned')
  expect(line).toEqual({
    sentence: 'Answered',
    fields: { where: 'Club', person: 'Ada', ms: 1_200, tokens: 15, traceId: dispatch.traceId },
  })
  expect(JSON.stringify(line)).not.toContain('secret')
})

test('a check comes first where each message that the turn answers has one, and the newest of them counts', () => {
  const [small, other] = [{ model: 'a/small' }, { model: 'a/other' }]
  const row = (precheck?: typeof small) => ({ dispatch, decision: { ...decision, ...(precheck && { precheck }) } })
  expect(askedIn([row(small), row(other)]).precheck).toBe(other)
  expect(askedIn([row(small), row()])).not.toHaveProperty('precheck')
  expect(askedIn([])).not.toHaveProperty('precheck')
})

test.each([
  ['silence', said('<NO_REPLY>'), 'silent', { sentence: 'The agent chose to say nothing' }],
  [
    'a denial at the exit',
    said('hello'),
    'denied',
    { sentence: 'Ended without an answer', fields: { outcome: 'refused: send_policy' } },
  ],
  [
    'an empty answer',
    said(''),
    'empty',
    { sentence: 'Ended without an answer', fields: { outcome: 'failed', error: 'model_empty' } },
  ],
  ['a stop', { kind: 'aborted', usage: NO_USAGE, steps: 0 }, undefined, { sentence: 'Stopped before an answer' }],
] as const)('%s is said as such', (_, result, fate, line) => {
  expect(lineOf(result, fate)).toMatchObject(line)
})

test('a failed turn has no such line: its failure is logged with the cause', () => {
  const failed: TurnResult = { kind: 'failed', code: 'model_auth', cause: 'x', usage: NO_USAGE, steps: 1 }
  expect(lineOf(failed, 'planned')).toBeUndefined()
})

test('a run that no person asked for names nobody, and a clock that was set back makes no time negative', () => {
  const posted = { ...dispatch, receivedAt: AT + 9_000, posted: { from: { hook: 'ci' } } }
  const fields = lineOf(said('hello'), 'planned', [
    { dispatch: posted as unknown as typeof dispatch, decision },
  ])?.fields
  expect(fields).toEqual({ where: 'Club', ms: 0, tokens: 15, traceId: dispatch.traceId })
})
