import { describe, expect, test } from 'vitest'
import type { FoundMessage } from '../../src/channels/capabilities.ts'
import type { DeliveryId, TraceId, TurnId } from '../../src/core/ids.ts'
import type { Delivery } from '../../src/core/outbound.ts'
import { decideAttempt } from '../../src/delivery/decide-attempt.ts'
import { decideReceipt } from '../../src/delivery/decide-receipt.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { answerLost, hanging, refused, swallowed, unreachable } from './fake-channel.ts'
import { KeyedChannel } from './keyed-channel.ts'
import { at, DM, openRig, type Rig } from './rig.ts'

const NOW = 10_000_000
const WINDOW = 120_000
const part = { text: 'hi', plain: 'hi', markup: 'plain' } as const

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
    state: 'uncertain',
    attempt: 1,
    ownerEpoch: 1,
    startedAt: NOW - 60_000,
    expiresAt: NOW + 600_000,
    ...changes,
  }
}

const again = { kind: 'send', from: ['sending', 'uncertain'], again: true }
const anew = { kind: 'send', from: ['sending', 'uncertain'] }
const later: FoundMessage = { kind: 'cannot_tell', reason: 'no answer', retryAfterMs: 5_000 }
const never: FoundMessage = { kind: 'cannot_tell', reason: 'no history' }

describe('A10: a lost send where the platform can prove it', () => {
  test.each([
    ['younger than the window', {}, undefined, again],
    ['with side effects, younger', { class: 'effect' }, undefined, again],
    ['just lost', { startedAt: NOW - 100 }, undefined, { kind: 'wait', until: NOW + 400 }],
    ['lost three times', { startedAt: NOW - 1_000, attempt: 3 }, undefined, { kind: 'wait', until: NOW + 1_000 }],
    [
      'at the end of the window',
      { startedAt: NOW - 100_000, attempt: 9 },
      undefined,
      { kind: 'wait', until: NOW + 20_000 },
    ],
    ['older', { startedAt: NOW - WINDOW }, undefined, { kind: 'look' }],
    [
      'older and found',
      { startedAt: NOW - WINDOW },
      { kind: 'found', messageId: '7' },
      { kind: 'found', messageId: '7' },
    ],
    ['older and absent', { startedAt: NOW - WINDOW }, { kind: 'absent' }, anew],
    ['with side effects, older and absent', { class: 'effect', startedAt: NOW - WINDOW }, { kind: 'absent' }, anew],
    ['older, the platform not answering', { startedAt: NOW - WINDOW }, later, { kind: 'wait', until: NOW + 4_000 }],
    ['older, the history closed', { startedAt: NOW - WINDOW }, never, { kind: 'repeat' }],
  ] as const)('%s', (_, changes, found, expected) => {
    const proof = { sameKeyWindowMs: WINDOW, ...(found && { looked: { found, at: NOW - 1_000 } }) }
    expect(decideAttempt(rowOf(changes), { now: NOW, since: NOW }, DEFAULT_SETTINGS, proof)).toEqual(expected)
  })

  test('without a window it is looked for once it could be seen', () => {
    const decide = (startedAt: number) =>
      decideAttempt(rowOf({ startedAt }), { now: NOW, since: NOW }, DEFAULT_SETTINGS, { sameKeyWindowMs: 0 })
    expect([decide(NOW - 1_000), decide(NOW - 3_000)]).toEqual([{ kind: 'wait', until: NOW + 2_000 }, { kind: 'look' }])
  })

  test('an effect whose history is closed is given up', () => {
    const row = rowOf({ class: 'effect', startedAt: NOW - WINDOW })
    const proof = { sameKeyWindowMs: WINDOW, looked: { found: never, at: NOW } }
    expect(decideAttempt(row, { now: NOW, since: NOW }, DEFAULT_SETTINGS, proof)).toMatchObject({ state: 'given_up' })
  })

  test('edits and marked repeats follow the rule without proof', () => {
    const proof = { sameKeyWindowMs: WINDOW }
    const decide = (changes: Partial<Delivery>) =>
      decideAttempt(rowOf(changes), { now: NOW, since: NOW }, DEFAULT_SETTINGS, proof)
    expect(decide({ op: 'edit' })).toEqual(anew)
    expect(decide({ part: { ...part, plain: '(repeat) hi' } })).toMatchObject({ kind: 'end' })
  })

  test.each([
    ['not sent', { kind: 'not_sent', reason: 'dns' }, { kind: 'uncertain', reason: 'dns' }],
    [
      'told to wait',
      { kind: 'rejected', reason: '429', retryAfterMs: 5_000 },
      { kind: 'uncertain', reason: '429', pauseUntil: NOW + 5_000 },
    ],
    ['refused', { kind: 'rejected', reason: '403' }, { kind: 'rejected', reason: '403' }],
  ] as const)('a second send that is %s does not make the first undone', (_, receipt, outcome) => {
    const attempted = { op: 'send', attempt: 2, repeat: false, moved: false, again: true } as const
    expect(decideReceipt(receipt, attempted, { now: NOW, random: 0 })).toEqual(outcome)
  })
})

describe('A10: a keyed platform, with the outbox', () => {
  async function open(window = WINDOW): Promise<{ rig: Rig; channel: KeyedChannel }> {
    const rig = await openRig()
    const channel = new KeyedChannel(() => rig.clock, window)
    rig.adapter = channel
    return { rig, channel }
  }

  test('an answer that was lost gives exactly one message, unmarked', async () => {
    const { rig, channel } = await open()
    channel.fates.push(answerLost)
    const message = rig.message('hello')
    await rig.say('', message)
    await rig.pass(5_000)
    expect([channel.visible(DM), channel.givenBack]).toEqual([['hello'], 1])
    expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent' }])
  })

  test('killed after the bytes left and back within the window: exactly one', async () => {
    const { rig, channel } = await open()
    channel.fates.push(hanging(true))
    await rig.say('hello')
    await channel.called(1)
    await rig.crash()
    await rig.pass(30_000)
    await rig.ready()
    await rig.pass(1_000)
    expect([channel.visible(DM), channel.givenBack, channel.looks]).toEqual([['hello'], 1, []])
  })

  test('back after the window, the message in the history: exactly one', async () => {
    const { rig, channel } = await open()
    channel.fates.push(hanging(true))
    const message = rig.message('hello')
    await rig.say('', message)
    await channel.called(1)
    await rig.crash()
    await rig.pass(300_000)
    await rig.ready()
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(channel.looks).toHaveLength(1)
    expect(await rig.rows(message.source)).toMatchObject([
      { state: 'sent', messageId: expect.stringContaining('first-') },
    ])
  })

  test('A04: found, and it shows less than the whole: it becomes the whole', async () => {
    const { rig, channel } = await open(0)
    channel.fates.push(answerLost)
    channel.history = () => ({ kind: 'found', messageId: 'm1', outdated: true })
    const message = rig.message('hello')
    await rig.say('', message)
    await rig.pass(10_000)
    expect(channel.calls.map(({ op, text, messageId }) => [op, text, messageId])).toEqual([
      ['send', 'hello', undefined],
      ['edit', 'hello', 'm1'],
    ])
    expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent', messageId: 'm1' }])
  })

  test('back after the window, nothing in the history: sent, unmarked', async () => {
    const { rig, channel } = await open()
    channel.fates.push(hanging(false))
    const message = rig.message('hello')
    await rig.say('', message)
    await channel.called(1)
    await rig.crash()
    await rig.pass(300_000)
    await rig.ready()
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent' }])
  })

  test('an outage longer than the window after a lost answer: looked for, never sent blindly', async () => {
    const { rig, channel } = await open()
    channel.fates.push(answerLost, ...Array.from({ length: 8 }, () => unreachable))
    await rig.say('hello')
    await rig.pass(200_000)
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(channel.looks.map(({ startedAt }) => startedAt)).toEqual([channel.calls[0]?.at])
  })

  test('a platform that does not answer is asked until it does', async () => {
    const { rig, channel } = await open(0)
    channel.fates.push(answerLost)
    let silent = 3
    channel.history = () => (silent-- > 0 ? { kind: 'cannot_tell', reason: 'down', retryAfterMs: 30_000 } : undefined)
    await rig.say('hello')
    await rig.pass(200_000)
    expect([channel.visible(DM), channel.looks.length]).toEqual([['hello'], 4])
  })

  test('A13: without history scope a reply is repeated once, marked', async () => {
    const { rig, channel } = await open(0)
    channel.history = () => ({ kind: 'cannot_tell', reason: 'missing_scope' })
    channel.fates.push(swallowed)
    await rig.say('hello')
    await rig.pass(60_000)
    expect(channel.visible(DM)).toEqual(['(repeat) hello'])
  })

  test('C11: a wait that is asked for before the second send is kept', async () => {
    const { rig, channel } = await open()
    channel.fates.push(answerLost, refused('429', { retryAfterMs: 20_000 }))
    await rig.say('hello')
    await rig.pass(19_000)
    expect(channel.givenBack).toBe(0)
    await rig.pass(10_000)
    expect([channel.visible(DM), channel.givenBack]).toEqual([['hello'], 1])
  })
})
