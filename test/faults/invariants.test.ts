import { describe, expect, it } from 'vitest'
import type { MessageEntry, TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type Evidence, violations } from './invariants.ts'
import type { OutboxRow, Stored } from './stored.ts'

const SENT: OutboxRow = {
  id: 'out_1',
  source: 'turn_1',
  part_no: 0,
  channel: 'telegram',
  chat: '111',
  topic: null,
  class: 'reply',
  op: 'send',
  state: 'sent',
  message_id: '2',
  plain: 'hello',
  reason: null,
  low_priority: null,
}
const KNOWN = { ...SENT, low_priority: '{"supersedes":"telegram:111","known":true}' }
const STRANGER = { ...SENT, low_priority: '{}' }
const INBOX = {
  id: 'in_1',
  kind: 'message',
  chat: '111',
  message_id: '1',
  session_id: 's',
  turn_id: 'turn_1',
  state: 'done',
  outcome: 'answered',
}
const TURN = { id: 'turn_1', session_id: 's', state: 'completed', attempt: 1, error: null }
const EVENTS = ['user_message', 'turn_started', 'assistant_message', 'turn_completed'].map((type, index) => ({
  session_id: 's',
  seq: index + 1,
  type,
  turn_id: index === 0 ? null : 'turn_1',
  data: type === 'user_message' ? '{"messageId":"1"}' : '{}',
}))

const STORED: Stored = {
  inbox: [INBOX],
  turns: [TURN],
  outbox: [SENT],
  events: EVENTS,
  sessions: [{ id: 's', last_seq: EVENTS.length }],
  misListed: [],
  integrity: 'ok',
  journalMode: 'wal',
}

function botSaid(messageId: number, text: string): MessageEntry {
  const chat = { id: 111, type: 'private' } as const
  const message = { message_id: messageId, date: 0, chat, text }
  return { kind: 'message', at: 0, change: 'sent', botId: 7, chatId: 111, topic: null, messageId, text, message }
}

const payload = { message_id: 1, chat: { id: 111 }, text: 'hi' }
const RECEIVED: readonly TelegramEntry[] = [
  { kind: 'offered', at: 0, botId: 7, updateId: 5, type: 'message', payload },
  { kind: 'confirmed', at: 0, botId: 7, updateId: 5 },
]

function evidence(stored: Partial<Stored> = {}, more: Partial<Evidence> = {}): Evidence {
  const sound = { telegram: [...RECEIVED, botSaid(2, 'hello')], model: [], probes: [], sinks: [], canaries: [] }
  return { ...sound, ...more, stored: { ...STORED, ...stored } }
}

const STEP = { session_id: 's', seq: 5, type: 'assistant_step', turn_id: 'turn_1', data: '{"calls":[{"callId":"c"}]}' }
const ONCE = { class: 'once', turnId: 'turn_1', callId: 'c' }
const REFUSED = { kind: 'refused', at: 0, status: 400, type: 'invalid_request_error', message: 'dangling' } as const
const REPEATED = { ...SENT, state: 'resent', message_id: '3', plain: '(repeat) hello' }

/** What is wrong, and the number of the invariant that has to say so. */
const BROKEN: readonly (readonly [string, string, Evidence])[] = [
  ['a message that was given away and is not in the inbox', '1', evidence({ inbox: [] })],
  ['a message stored twice', '1', evidence({ inbox: [INBOX, { ...INBOX, id: 'in_2' }] })],
  ['a message without an outcome', '1', evidence({ inbox: [{ ...INBOX, state: 'waiting', outcome: null }] })],
  [
    'a turn that ended twice',
    '2',
    evidence({ events: EVENTS.flatMap((e) => (e.seq === 4 ? [e, { ...e, seq: 5 }] : [e])) }),
  ],
  ['a turn nobody asked for', '2', evidence({ inbox: [{ ...INBOX, turn_id: null }] })],
  ['a delivery on record that nobody got', '3', evidence({}, { telegram: RECEIVED })],
  [
    'a message of no delivery',
    '3',
    evidence({}, { telegram: [...RECEIVED, botSaid(2, 'hello'), botSaid(3, 'hello')] }),
  ],
  ['a text that differs from its row', '3', evidence({}, { telegram: [...RECEIVED, botSaid(2, 'hallo')] })],
  [
    'a third copy of a repeated message',
    '3',
    evidence(
      { outbox: [REPEATED] },
      { telegram: [...RECEIVED, botSaid(1, 'hello'), botSaid(2, 'hello'), botSaid(3, '(repeat) hello')] },
    ),
  ],
  ['a repeat where the platform could have been asked', '3', evidence({ outbox: [{ ...REPEATED, channel: 'slack' }] })],
  [
    'a message another platform gave away that is not in the inbox',
    '1',
    evidence({}, { heardElsewhere: [{ chat: 'C1', messageId: '7' }] }),
  ],
  [
    'messages in another order than planned',
    '4',
    evidence(
      {
        outbox: [
          { ...SENT, message_id: '3' },
          { ...SENT, id: 'out_2' },
        ],
      },
      { telegram: [...RECEIVED, botSaid(2, 'hello'), botSaid(3, 'hello')] },
    ),
  ],
  ['a request the model API refused', '5', evidence({}, { model: [REFUSED] })],
  ['a tool call without a result', '5', evidence({ events: [...EVENTS, STEP], sessions: [{ id: 's', last_seq: 5 }] })],
  ['a once tool that ran twice', '6', evidence({}, { probes: [ONCE, ONCE] })],
  ['a turn left running', '7', evidence({ turns: [{ ...TURN, state: 'running' }] })],
  ['a delivery left unfinished', '7', evidence({ outbox: [{ ...SENT, state: 'sending' }] })],
  ['a damaged file', '8', evidence({ integrity: 'row 3 missing from index' })],
  ['a list that lacks a session', '9', evidence({ misListed: [{ entry: 'list  0 1 1' }] })],
  ['a gap in the numbers', '9', evidence({ sessions: [{ id: 's', last_seq: 5 }] })],
  [
    'a secret in the log',
    '10',
    evidence({}, { sinks: [{ file: 'log', bytes: Buffer.from('x canary x') }], canaries: ['canary'] }),
  ],
  [
    'a silence marker in a chat',
    '10',
    evidence({ outbox: [{ ...SENT, plain: 'a <NO_REPLY>' }] }, { telegram: [...RECEIVED, botSaid(2, 'a <NO_REPLY>')] }),
  ],
]

/** Rows in the order of planning, with the numbers that their messages have. */
const inOrder = (...rows: readonly (readonly [OutboxRow, string])[]) =>
  evidence(
    { outbox: rows.map(([row, message_id], index) => ({ ...row, message_id, id: `out_${index}` })) },
    { telegram: [...RECEIVED, ...rows.map(([, id]) => botSaid(Number(id), 'hello'))] },
  )

describe('the order of messages', () => {
  it.each([
    ['a reply ahead of an answer to a command of somebody who is no owner', inOrder([KNOWN, '4'], [SENT, '3'])],
    ['a known person ahead of strangers', inOrder([STRANGER, '4'], [KNOWN, '3'])],
    ['what follows in its turn behind both', inOrder([KNOWN, '4'], [SENT, '3'], [SENT, '5'], [KNOWN, '6'])],
  ])('is kept by %s', (_, sound) => {
    expect(violations(sound)).toEqual([])
  })

  it.each([
    ['two replies', inOrder([SENT, '4'], [SENT, '3'])],
    ['two answers that can wait', inOrder([KNOWN, '4'], [KNOWN, '3'])],
    ['an answer that can wait, ahead of a reply', inOrder([SENT, '4'], [KNOWN, '3'])],
    ['a stranger, ahead of somebody known', inOrder([KNOWN, '4'], [STRANGER, '3'])],
    ['two replies with one between that can wait', inOrder([SENT, '5'], [KNOWN, '6'], [SENT, '4'])],
  ])('is broken by %s', (_, broken) => {
    expect(violations(broken)).toEqual([expect.stringMatching(/^4: /)])
  })
})

describe('the invariants', () => {
  it('are content with a message that was answered once', () => {
    expect(violations(evidence())).toEqual([])
  })

  it('are content with a copy that is marked as a repeat', () => {
    const telegram = [...RECEIVED, botSaid(2, 'hello'), botSaid(3, '(repeat) hello')]
    expect(violations(evidence({ outbox: [REPEATED] }, { telegram }))).toEqual([])
  })

  it.each(BROKEN)('notice %s', (_, number, broken) => {
    expect(violations(broken).map((violation) => violation.split(':')[0])).toContain(number)
  })
})
