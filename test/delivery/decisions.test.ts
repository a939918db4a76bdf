import { expect, test } from 'vitest'
import type { DeliveryId, TraceId, TurnId } from '../../src/core/ids.ts'
import type { Delivery, DeliveryReceipt } from '../../src/core/outbound.ts'
import { decideAttempt } from '../../src/delivery/decide-attempt.ts'
import { backOffMs, decideReceipt } from '../../src/delivery/decide-receipt.ts'
import { markRepeat } from '../../src/delivery/reconcile.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { at, DM } from './rig.ts'

const NOW = 1_000_000
const attempted = { op: 'send', attempt: 1, repeat: false, moved: false } as const
const moment = { now: NOW, random: 0.5 }
const rejected = (more: object = {}): DeliveryReceipt => ({ kind: 'rejected', reason: 'no', ...more })

test.each([
  ['sent', { kind: 'sent', messageId: '9' }, {}, { kind: 'sent', state: 'sent', messageId: '9' }],
  [
    'sent as a repeat',
    { kind: 'sent', messageId: '9' },
    { repeat: true },
    { kind: 'sent', state: 'resent', messageId: '9' },
  ],
  [
    'not sent',
    { kind: 'not_sent', reason: 'dns' },
    {},
    { kind: 'wait', notBefore: NOW + 375, reason: 'dns', chat: false },
  ],
  [
    'refused for now',
    rejected({ retryAfterMs: 35_000 }),
    {},
    { kind: 'wait', notBefore: NOW + 35_000, reason: 'no', chat: true },
  ],
  [
    'refused for a time that is no whole number',
    rejected({ retryAfterMs: 2000.15 }),
    {},
    { kind: 'wait', notBefore: NOW + 2001, reason: 'no', chat: true },
  ],
  [
    'refused for ever',
    rejected({ retryAfterMs: Number.POSITIVE_INFINITY }),
    {},
    { kind: 'wait', notBefore: NOW + 86_400_000, reason: 'no', chat: true },
  ],
  ['moved', rejected({ movedTo: at(DM) }), {}, { kind: 'moved', to: at(DM), reason: 'no' }],
  ['moved twice', rejected({ movedTo: at(DM) }), { moved: true }, { kind: 'rejected', reason: 'no' }],
  ['refused', rejected(), {}, { kind: 'rejected', reason: 'no' }],
  ['an edit refused', rejected(), { op: 'edit' }, { kind: 'send_anew', reason: 'no' }],
  ['a deletion refused', rejected(), { op: 'delete' }, { kind: 'rejected', reason: 'no' }],
  ['unknown', { kind: 'unknown', reason: 'reset' }, {}, { kind: 'uncertain', reason: 'reset' }],
] as const)('P26: a part %s', (_, receipt, changes, outcome) => {
  expect(decideReceipt(receipt, { ...attempted, ...changes }, moment)).toEqual(outcome)
})

test('back-off doubles up to half a minute, half of it jitter', () => {
  expect([1, 2, 3, 7, 40].map((attempt) => backOffMs(attempt, 1))).toEqual([500, 1_000, 2_000, 30_000, 30_000])
  expect(backOffMs(1, 0)).toBe(250)
})

const part = { text: '<b>hi</b>', plain: 'hi', markup: 'html' } as const

function rowOf(changes: Partial<Delivery>): Delivery {
  return {
    id: 'out_1' as DeliveryId,
    source: 'turn_1' as TurnId,
    partNo: 0,
    traceId: 'tr_1' as TraceId,
    address: at(DM),
    class: 'reply',
    op: 'send',
    part,
    state: 'planned',
    attempt: 1,
    ownerEpoch: 1,
    startedAt: NOW - 60_000,
    expiresAt: NOW + 60_000,
    ...changes,
  }
}

const act = (changes: Partial<Delivery>, since = NOW) =>
  decideAttempt(rowOf(changes), { now: NOW, since }, DEFAULT_SETTINGS)

test.each([
  ['planned', { state: 'planned' }, { kind: 'send', from: ['planned', 'waiting'] }],
  ['waiting and due', { state: 'waiting', notBefore: NOW }, { kind: 'send', from: ['planned', 'waiting'] }],
  ['waiting', { state: 'waiting', notBefore: NOW + 5 }, { kind: 'wait', until: NOW + 5 }],
  ['too old', { state: 'planned', expiresAt: NOW }, { kind: 'end', state: 'expired', reason: 'too old to be sent' }],
  [
    'too old after a failure',
    { state: 'waiting', expiresAt: NOW, reason: 'dns' },
    { kind: 'end', state: 'expired', reason: 'dns' },
  ],
  ['sent', { state: 'sent' }, { kind: 'skip' }],
  ['uncertain and rested', { state: 'uncertain' }, { kind: 'repeat' }],
  ['orphaned in `sending`', { state: 'sending' }, { kind: 'repeat' }],
  ['uncertain just now', { state: 'uncertain', startedAt: NOW - 1 }, { kind: 'wait', until: NOW + 9_999 }],
  ['an uncertain notice', { state: 'uncertain', class: 'notice' }, { kind: 'repeat' }],
  ['an uncertain edit', { state: 'uncertain', op: 'edit' }, { kind: 'send', from: ['sending', 'uncertain'] }],
  ['an uncertain deletion', { state: 'uncertain', op: 'delete' }, { kind: 'send', from: ['sending', 'uncertain'] }],
  [
    'an edit uncertain just now',
    { state: 'uncertain', op: 'edit', startedAt: NOW },
    { kind: 'wait', until: NOW + 500 },
  ],
] as const)('P24: a part that is %s', (_, changes, expected) => {
  expect(act(changes)).toEqual(expected)
})

test.each([
  ['an effect', { class: 'effect' }, 0],
  ['a marked repeat', { part: { ...part, plain: '(repeat) hi' } }, 0],
  ['an expired reply', { expiresAt: NOW }, 0],
  ['an effect whose edit stayed unknown for a minute', { class: 'effect', op: 'edit' }, 60_000],
  ['a deletion that stayed unknown for a minute', { op: 'delete' }, 60_000],
] as const)('P24: %s of unknown outcome is given up with a reason', (_, changes, ago) => {
  expect(act({ state: 'uncertain', ...changes }, NOW - ago)).toMatchObject({
    kind: 'end',
    state: 'given_up',
    reason: expect.any(String),
  })
})

test('an edit that stayed unknown for a minute becomes a marked message', () => {
  expect(act({ state: 'uncertain', op: 'edit' }, NOW - 60_000)).toEqual({ kind: 'repeat' })
})

test('a repeat keeps its markup where the mark fits', () => {
  expect(markRepeat(part, '(repeat) ', 11)).toEqual({
    text: '(repeat) <b>hi</b>',
    plain: '(repeat) hi',
    markup: 'html',
  })
})

test('a repeat whose mark no longer fits is cut to the limit, never inside a character', () => {
  const full = { text: 'x', plain: `${'a'.repeat(9)}😀b`, markup: 'html' } as const
  const marked = markRepeat(full, '12345678', 19)
  expect(marked.plain).toBe(`12345678${'a'.repeat(9)}…`)
  expect(marked).toMatchObject({ text: marked.plain, markup: 'plain' })
})
