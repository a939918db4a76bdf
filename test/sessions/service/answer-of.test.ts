import { describe, expect, it } from 'vitest'
import type { SessionId, TurnId } from '../../../src/core/ids.ts'
import { answerOf } from '../../../src/sessions/service/answer-of.ts'
import { calmLine } from '../../../src/sessions/turns/turn-reply.ts'
import type { InboxRow } from '../../../src/store/inbox-port.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { eventLog } from '../../fakes/session-events.ts'
import { ids, inboxRow } from '../../store/sample-rows.ts'

const SESSION = 's' as SessionId

/** A store with one session of two answered turns and one that has no answer. */
function reader(): Pick<StoreReader, 'events' | 'sessions' | 'turns'> {
  const log = eventLog()
  for (const [turn, text] of [
    ['t1', 'first <NO_REPLY>'],
    ['t2', 'second'],
  ] as const) {
    log.user('hello')
    log.started(turn)
    log.answered(turn, text)
  }
  log.started('t3')
  const session = { id: SESSION, lastSeq: log.events.length }
  return {
    events: { since: async (_id: SessionId, after: number, limit: number) => log.events.slice(after, after + limit) },
    sessions: { get: async (id: SessionId) => (id === SESSION ? session : undefined) },
    turns: { get: async () => undefined },
  } as unknown as Pick<StoreReader, 'events' | 'sessions' | 'turns'>
}

function postedAt(channel: string): InboxRow['dispatch'] {
  const { dispatch } = inboxRow(1, 1)
  return { ...dispatch, event: { ...dispatch.event, address: { ...dispatch.event.address, channel } } }
}

function row(changes: Partial<InboxRow>): InboxRow {
  return { ...inboxRow(1, 1), id: ids.inbox(), state: 'done', ...changes }
}

const ofTurn = (turn: string, changes: Partial<InboxRow> = {}): InboxRow =>
  row({ outcome: 'answered', sessionId: SESSION, turnId: turn as TurnId, ...changes })

describe('what became of a run', () => {
  it('T21: is the answer of the turn that took it, without markers', async () => {
    expect(await answerOf(reader(), ofTurn('t1'))).toEqual({ status: 'ok', reply: 'first' })
    expect(await answerOf(reader(), ofTurn('t2'))).toEqual({ status: 'ok', reply: 'second' })
  })

  it('is nothing where the turn has no answer, or its session is gone', async () => {
    expect(await answerOf(reader(), ofTurn('t3', { outcome: 'silent' }))).toEqual({ status: 'ok', reply: '' })
    expect(await answerOf(reader(), ofTurn('t1', { sessionId: 'gone' as SessionId }))).toMatchObject({ reply: '' })
  })

  it.each([{ state: 'waiting' as const }, { state: 'claimed' as const }])(
    'is not known while it is %j',
    async (state) => {
      expect(await answerOf(reader(), row(state))).toBeUndefined()
    },
  )

  it.each([
    ['failed', 'Something went wrong on my side.'],
    ['quarantined', 'I gave up on this message'],
    ['cancelled', 'It was stopped'],
    ['refused: send_policy', 'Nothing may be sent there'],
    ['refused: queue_full', 'More messages wait there'],
    ['refused: stranger', 'There is no such session.'],
    ['ignored: empty', 'There is no such session.'],
  ] as const)('T18: %s is an error in words for people', async (outcome, words) => {
    expect(await answerOf(reader(), row({ outcome }))).toMatchObject({
      status: 'error',
      error: expect.stringMatching(new RegExp(`^${words}.*\\(tr_\\w+\\)$`)),
    })
  })
})

it.each(['model_context_length', 'model_invalid_request', 'turn_limit', 'budget_spent'] as const)(
  'T18: the line for %s names a command in a chat, and none to a client, which has no commands',
  (code) => {
    expect(calmLine(code, ids.trace(), 'telegram')).toMatch(/`\/(new|budget)`/)
    expect(calmLine(code, ids.trace(), 'api')).not.toMatch(/\/(new|budget)/)
  },
)

it('T18: a client whose session has had its turns is told to name another, and the cap of its own kind', async () => {
  const answer = await answerOf(
    { ...reader(), turns: { get: async () => ({ error: 'turn_limit' }) } } as unknown as ReturnType<typeof reader>,
    ofTurn('t1', { outcome: 'failed', dispatch: postedAt('cli') }),
  )
  expect(answer).toMatchObject({
    error: expect.stringMatching(/a session of another name.*session\.turnCap\.cli\. \(tr_/),
  })
})

it('T18: a turn that could not be kept names the disk, for that is most often why', () => {
  expect(calmLine('unavailable', ids.trace())).toMatch(/full disk.* \(tr_\w+\)$/)
})
