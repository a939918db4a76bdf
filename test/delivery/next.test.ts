import { describe, expect, test } from 'vitest'
import { backOffMs } from '../../src/core/backoff.ts'
import type { DeliveryId, TraceId, TurnId } from '../../src/core/ids.ts'
import type { Delivery, DeliveryReceipt } from '../../src/core/outbound.ts'
import { SEND_PACE } from '../../src/delivery/after-call.ts'
import type { Facts, Item, Looked, Sending, Uncertain } from '../../src/delivery/item.ts'
import { itemOf, next } from '../../src/delivery/next.ts'
import { markRepeat } from '../../src/delivery/repeat-mark.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { at, DM } from './rig.ts'

const NOW = 10_000_000
/** The daemon has run for so long. */
const UP = 500_000
const WINDOW = 120_000
const part = { text: '<b>hi</b>', plain: 'hi', markup: 'html' } as const
const marked = { ...part, plain: '(repeat) hi' }

function rowOf(changes: Partial<Delivery> = {}): Delivery {
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
    expiresAt: NOW + 600_000,
    ...changes,
  }
}

function facts(changes: Partial<Facts> = {}): Facts {
  return {
    now: NOW,
    elapsed: UP,
    settings: DEFAULT_SETTINGS,
    random: 0.5,
    ready: true,
    sameKeyWindowMs: undefined,
    provesSending: true,
    wroteAt: undefined,
    moved: false,
    ...changes,
  }
}

function sendingOf(row: Partial<Delivery> = {}, changes: Partial<Sending> = {}): Sending {
  return { kind: 'sending', row: rowOf(row), expiresAt: UP + 600_000, startedAt: UP - 10, as: 'first', ...changes }
}

const receive = (receipt: DeliveryReceipt, item = sendingOf(), more: Partial<Facts> = {}) =>
  next(item, facts({ ...more, answer: { to: 'call', receipt } }))[0]

const rejected = (more: object = {}): DeliveryReceipt => ({ kind: 'rejected', reason: 'no', ...more })
const waiting = (waitMs: number, reason = 'no') => ({ change: { kind: 'settle', state: 'waiting', reason, waitMs } })

describe('a call', () => {
  test.each([
    ['that arrived', { kind: 'sent', messageId: '9' }, {}, { change: { state: 'sent', messageId: '9' } }],
    ['not sent', { kind: 'not_sent', reason: 'dns' }, {}, waiting(375, 'dns')],
    ['refused for now', rejected({ retryAfterMs: 35_000 }), {}, { ...waiting(35_000), pauseMs: 35_000 }],
    ['refused for a time that is no whole number', rejected({ retryAfterMs: 2000.15 }), {}, waiting(2001)],
    ['refused for ever', rejected({ retryAfterMs: Number.POSITIVE_INFINITY }), {}, waiting(86_400_000)],
    ['refused', rejected(), {}, { change: { state: 'rejected', reason: 'no' }, after: { kind: 'ended' } }],
    ['that edits, refused', rejected(), { op: 'edit' }, { change: { kind: 'send_anew' }, after: { kind: 'queued' } }],
    ['that deletes, refused', rejected(), { op: 'delete' }, { change: { state: 'rejected' } }],
    [
      'of unknown outcome',
      { kind: 'unknown', reason: 'reset' },
      {},
      { change: { state: 'uncertain', reason: 'reset' } },
    ],
  ] as const)('%s', (_, receipt, row, expected) => {
    expect(receive(receipt, sendingOf(row))).toMatchObject({ kind: 'recording', ...expected })
  })

  test('that was a marked repeat is recorded as one', () => {
    expect(receive({ kind: 'sent', messageId: '9' }, sendingOf({ part: marked }))).toMatchObject({
      change: { state: 'resent', messageId: '9' },
    })
  })

  test('to a chat that moved follows it once', () => {
    const told = rejected({ movedTo: at('telegram:direct:8') })
    expect(receive(told)).toMatchObject({ change: { state: 'waiting' }, movedTo: at('telegram:direct:8') })
    expect(receive(told, sendingOf(), { moved: true })).toMatchObject({ change: { state: 'rejected' } })
  })

  test.each([
    ['not sent', { kind: 'not_sent', reason: 'dns' }, { change: { state: 'uncertain', reason: 'dns' } }],
    ['told to wait', rejected({ retryAfterMs: 5_000 }), { change: { state: 'uncertain' }, pauseMs: 5_000 }],
    ['refused', rejected(), { change: { state: 'rejected' } }],
  ] as const)('of a second time that is %s does not make the first undone', (_, receipt, expected) => {
    expect(receive(receipt, sendingOf({ attempt: 2 }, { as: 'again' }))).toMatchObject(expected)
  })
})

test('back-off doubles up to half a minute, half of it jitter', () => {
  expect([1, 2, 3, 7, 40].map((attempt) => backOffMs(attempt, SEND_PACE))).toEqual([500, 1_000, 2_000, 30_000, 30_000])
  expect(backOffMs(1, SEND_PACE, 0)).toBe(250)
})

describe('a row at the head of its conversation', () => {
  const loaded = (row: Partial<Delivery>, more: Partial<Facts> = {}) =>
    next({ kind: 'queued', id: rowOf().id }, facts({ ...more, answer: { to: 'load', row: rowOf(row) } }))

  test.each([
    ['planned', { state: 'planned' }, { do: 'reserve' }],
    ['waiting and due', { state: 'waiting', notBefore: NOW }, { do: 'reserve' }],
    ['waiting', { state: 'waiting', notBefore: NOW + 5 }, { do: 'wait', until: UP + 5 }],
    ['sent', { state: 'sent' }, { do: 'leave' }],
    ['of unknown outcome and rested', { state: 'uncertain' }, { do: 'prove' }],
    ['`sending` without a sender', { state: 'sending' }, { do: 'prove' }],
    ['of unknown outcome just now', { state: 'uncertain', startedAt: NOW - 1 }, { do: 'wait', until: UP + 9_999 }],
  ] as const)('that is %s', (_, row, effect) => {
    expect(loaded(row)[1]).toEqual(effect)
  })

  test.each([
    ['too old', { expiresAt: NOW }, 'expired', 'too old to be sent'],
    ['too old after a failure', { state: 'waiting', expiresAt: NOW, reason: 'dns' }, 'expired', 'dns'],
    ['of unknown outcome and too old', { state: 'uncertain', expiresAt: NOW }, 'given_up', expect.any(String)],
    ['an effect of unknown outcome', { state: 'uncertain', class: 'effect' }, 'given_up', expect.any(String)],
    ['a repeat of unknown outcome', { state: 'uncertain', part: marked }, 'given_up', expect.any(String)],
  ] as const)('that is %s ends with a reason', (_, row, state, reason) => {
    expect(loaded(row)).toMatchObject([{ kind: 'recording', change: { state, reason } }, { do: 'record' }])
  })

  test('that cannot be read is set aside', () => {
    const [item] = next({ kind: 'queued', id: rowOf().id }, facts({ answer: { to: 'load', row: 'unreadable' } }))
    expect(item).toMatchObject({ kind: 'recording', change: { state: 'given_up' }, after: { kind: 'ended' } })
  })

  test('F-E05: whose clock was set back waits no longer than it was told to', () => {
    const hour = 3_600_000
    const row = { state: 'waiting', startedAt: NOW + hour, notBefore: NOW + hour + 700 } as const
    expect(loaded(row)[1]).toEqual({ do: 'wait', until: UP + 700 })
  })
})

describe('F-A10: a lost send where the platform can prove it', () => {
  const again = { do: 'reserve', as: 'again' }
  const anew = { do: 'reserve', as: 'anew' }
  const later: Looked = { kind: 'cannot_tell', reason: 'no answer', retryAfterMs: 5_000 }
  const never: Looked = { kind: 'cannot_tell', reason: 'no history' }

  /** The effect, and for what a slot is asked. */
  function effect(item: Uncertain, more: Partial<Facts> = {}) {
    const given = facts({ sameKeyWindowMs: WINDOW, ...more })
    const [asking, todo] = next(item, given)
    if (todo.do !== 'reserve') return todo
    const [reserved] = next(asking, { ...given, answer: { to: 'reserve', slotAt: UP, later: false } })
    return { do: 'reserve', as: reserved.kind === 'reserved' ? reserved.as : reserved.kind }
  }

  function lostFor(ageMs: number, row: Partial<Delivery> = {}, looked?: Looked, foreign = false): Uncertain {
    return {
      kind: 'uncertain',
      row: rowOf({ state: 'uncertain', startedAt: NOW - ageMs, ...row }),
      expiresAt: UP + 600_000,
      loss: { at: UP - ageMs, since: UP - ageMs, startedAt: UP - ageMs, foreign },
      ...(looked && { looked: { found: looked, at: UP - 1_000 } }),
    }
  }

  test.each([
    ['younger than the window', lostFor(60_000), again],
    ['with side effects, younger', lostFor(60_000, { class: 'effect' }), again],
    ['just lost', lostFor(100), { do: 'wait', until: UP + 400 }],
    ['lost three times', lostFor(1_000, { attempt: 3 }), { do: 'wait', until: UP + 1_000 }],
    ['at the end of the window', lostFor(100_000, { attempt: 9 }), { do: 'wait', until: UP + 20_000 }],
    ['older', lostFor(WINDOW), { do: 'look' }],
    ['older and absent', lostFor(WINDOW, {}, { kind: 'absent' }), anew],
    ['with side effects, older and absent', lostFor(WINDOW, { class: 'effect' }, { kind: 'absent' }), anew],
    ['older, the platform not answering', lostFor(WINDOW, {}, later), { do: 'wait', until: UP + 4_000 }],
    ['older, the history closed', lostFor(WINDOW, {}, never), { do: 'prove' }],
    ['of another process, whatever its age', lostFor(5_000, {}, undefined, true), { do: 'look' }],
    ['of another process, the history closed', lostFor(60_000, {}, never, true), again],
  ] as const)('%s', (_, item, expected) => {
    expect(effect(item)).toEqual(expected)
  })

  test('that is found is recorded, and edited if it shows an earlier text', () => {
    const found = (outdated: boolean) =>
      next(lostFor(WINDOW, {}, { kind: 'found', messageId: '7', outdated }), facts({ sameKeyWindowMs: WINDOW }))[0]
    expect(found(false)).toMatchObject({ change: { kind: 'settle', state: 'sent', messageId: '7' } })
    expect(found(true)).toMatchObject({ change: { kind: 'edit', messageId: '7' }, after: { kind: 'queued' } })
  })

  test('without a window it is looked for once it could be seen', () => {
    const look = (ageMs: number) => effect(lostFor(ageMs), { sameKeyWindowMs: 0 })
    expect([look(1_000), look(3_000)]).toEqual([{ do: 'wait', until: UP + 2_000 }, { do: 'look' }])
  })

  test('an effect whose history is closed is given up', () => {
    expect(next(lostFor(WINDOW, { class: 'effect' }, never), facts({ sameKeyWindowMs: WINDOW }))[0]).toMatchObject({
      change: { state: 'given_up' },
    })
  })

  test('F-E05: the window counts by the clock that says more', () => {
    const asleep = lostFor(1_000, { startedAt: NOW - 6 * 3_600_000 })
    expect(effect(asleep)).toEqual({ do: 'wait', until: UP + 2_000 })
    const setBack = lostFor(WINDOW, { startedAt: NOW + 3_600_000 })
    expect(effect(setBack)).toEqual({ do: 'look' })
  })

  test('a slot that comes after the window is not used for the same key', () => {
    const reserved: Item = {
      kind: 'reserved',
      row: rowOf({ state: 'uncertain' }),
      expiresAt: UP + 600_000,
      slotAt: UP,
      as: 'again',
      lost: lostFor(WINDOW),
    }
    expect(next(reserved, facts({ sameKeyWindowMs: WINDOW }))).toMatchObject([{ kind: 'uncertain' }, { do: 'look' }])
  })
})

describe('F-B08: the one repeat', () => {
  const lost: Uncertain = {
    kind: 'uncertain',
    row: rowOf({ state: 'uncertain', startedAt: NOW - 60_000 }),
    expiresAt: UP + 600_000,
    loss: { at: UP - 60_000, since: UP - 60_000, startedAt: UP - 60_000, foreign: false },
  }
  const proven = (proof: { works: boolean; retryAfterMs?: number }, tries = 1): Uncertain => ({
    ...lost,
    proven: { proof, at: UP - 100, tries },
  })

  test.each([
    ['is not spent before anything shows that sending works', lost, {}, { do: 'prove' }],
    ['goes once a call that writes has succeeded since', lost, { wroteAt: UP - 1 }, { do: 'reserve' }],
    ['does not go by what succeeded before', lost, { wroteAt: UP - 60_001 }, { do: 'prove' }],
    ['goes once the platform was asked and answered', proven({ works: true }), {}, { do: 'reserve' }],
    ['asks again, later each time', proven({ works: false }, 3), {}, { do: 'wait', until: UP + 1_900 }],
    [
      'waits as long as the platform says',
      proven({ works: false, retryAfterMs: 9_000 }),
      {},
      { do: 'wait', until: UP + 8_900 },
    ],
    ['goes where nobody can be asked', lost, { provesSending: false }, { do: 'reserve' }],
  ] as const)('%s', (_, item, more, expected) => {
    expect(next(item, facts(more))[1]).toEqual(expected)
  })
})

/** Asked, and nothing arrives. */
const OUT = { proof: { works: false }, at: UP - 100, tries: 1 }

describe('a lost edit', () => {
  const edit = (op: 'edit' | 'delete', sinceMs: number, row: Partial<Delivery> = {}): Uncertain => ({
    kind: 'uncertain',
    row: rowOf({ op, state: 'uncertain', ...row }),
    expiresAt: UP + 600_000,
    loss: { at: UP - 500, since: UP - sinceMs, startedAt: UP - 500, foreign: false },
  })

  test.each([
    ['is done again', edit('edit', 500), {}, { do: 'reserve' }],
    ['is done again in an outage however long', { ...edit('edit', 300_000), proven: OUT }, {}, { do: 'reserve' }],
    ['that gets no answer for a minute asks whether others would', edit('edit', 60_000), {}, { do: 'prove' }],
    ['rests between two tries', edit('edit', 500, { attempt: 2 }), {}, { do: 'wait', until: UP + 500 }],
    ['of a deletion is done again', { ...edit('delete', 300_000), proven: OUT }, {}, { do: 'reserve' }],
  ] as const)('%s', (_, item, more, expected) => {
    expect(next(item, facts(more))[1]).toEqual(expected)
  })

  test('that alone gets no answer for a minute becomes a marked message, a deletion is given up', () => {
    const given = facts({ wroteAt: UP - 100, answer: { to: 'reserve', slotAt: UP + 5, later: false } })
    expect(next(edit('edit', 60_000), given)[0]).toMatchObject({ kind: 'reserved', as: 'repeat' })
    expect(next(edit('delete', 60_000), given)[0]).toMatchObject({ change: { state: 'given_up' } })
    expect(next(edit('edit', 60_000, { class: 'effect' }), given)[0]).toMatchObject({ change: { state: 'given_up' } })
  })
})

test('a part whose channel goes away before its call is put back', () => {
  expect(next(sendingOf(), facts({ ready: false }))).toMatchObject([
    { kind: 'recording', change: { state: 'waiting' }, after: { kind: 'queued' } },
    { do: 'record' },
  ])
})

test('a row of another process is as old as its row says', () => {
  expect(itemOf(rowOf({ state: 'uncertain', startedAt: NOW - 7_000 }), facts())).toMatchObject({
    loss: { startedAt: UP - 7_000, foreign: true },
  })
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
  const cut = markRepeat(full, '12345678', 19)
  expect(cut.plain).toBe(`12345678${'a'.repeat(9)}…`)
  expect(cut).toMatchObject({ text: cut.plain, markup: 'plain' })
})
