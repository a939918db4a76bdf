import { describe, expect, it } from 'vitest'
import { amended, withoutTakenBack } from '../../src/core/amended.ts'
import type { SessionEvent } from '../../src/core/event.ts'
import type { SessionId, TurnId } from '../../src/core/ids.ts'
import { eventLog } from '../fakes/session-events.ts'

const ONE = { messageId: '1' }

function texts(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
}

/** A session that was continued in another conversation, where the first message has the same id. */
function continued() {
  const log = eventLog()
  const takenBack = (turn: string) =>
    log.add({ type: 'exchange_taken_back', data: { turn: turn as TurnId, messages: [ONE], by: 'ada' } as never })
  log.user('dinner is at seven', ONE)
  log.answered('t1', 'fine')
  log.add({ type: 'history_taken_over', data: { from: 's' as SessionId, events: 3 } })
  return { ...log, takenBack }
}

describe('a session that was continued in another conversation', () => {
  it('C23: what is taken back or deleted there leaves what was said before, by a message of the same id', () => {
    const undone = continued()
    undone.user('who cooks?', ONE)
    undone.answered('t2', 'nobody')
    undone.takenBack('t2')
    expect(texts(amended(undone.events))).toEqual(['dinner is at seven'])
    expect(texts(withoutTakenBack(undone.events))).toEqual(['dinner is at seven'])
    const deleted = continued()
    deleted.user('who cooks?', ONE)
    deleted.add({ type: 'message_deleted', data: ONE } as never)
    expect(texts(amended(deleted.events))).toEqual(['dinner is at seven'])
  })

  it('C23: what was said before can be taken back there as well, alone or behind what was said there', () => {
    const { events, takenBack, user, answered } = continued()
    takenBack('t1')
    expect(texts(amended(events))).toEqual([])
    user('who cooks?', ONE)
    answered('t2', 'nobody')
    expect(texts(amended(events))).toEqual(['who cooks?'])
    takenBack('t2')
    expect(texts(amended(events))).toEqual([])
  })
})

describe('a chat that got a new id, where numbers of messages begin anew', () => {
  const started = () => {
    const log = eventLog()
    log.user('dinner is at seven', ONE)
    log.answered('t1', 'fine')
    log.user('who cooks?', ONE)
    log.answered('t2', 'nobody')
    return log
  }

  it('C23, F-C07: what is taken back there leaves a message of before that has its number', () => {
    const { events, add } = started()
    add({ type: 'exchange_taken_back', data: { turn: 't2' as TurnId, messages: [ONE], by: 'ada' } as never })
    expect(texts(amended(events))).toEqual(['dinner is at seven'])
    expect(texts(withoutTakenBack(events))).toEqual(['dinner is at seven'])
  })

  it('C23, F-C07: what is edited there leaves a message of before that has its number and its sender', () => {
    const { events, add } = started()
    const [asked] = events.flatMap((event) => (event.type === 'user_message' ? [event.data] : []))
    add({ type: 'message_edited', data: { ...asked, text: 'who washes up?' } } as never)
    expect(texts(amended(events))).toEqual(['dinner is at seven', 'who washes up?'])
  })
})
