import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { answerLost, hanging, refused, swallowed, unreachable } from './fake-channel.ts'
import { KeyedChannel } from './keyed-channel.ts'
import { DM, openRig } from './rig.ts'

const WINDOW = 120_000

describe('F-A10: a keyed platform, with the outbox', () => {
  async function open(window = WINDOW) {
    const rig = await openRig()
    const channel = new KeyedChannel(() => rig.clock, window)
    rig.adapter = channel
    /** Killed while the message is being sent, and back after this time. The platform shows the message or does not. */
    const killed = async (shown: boolean, backAfterMs = 300_000, message = rig.message('hello')) => {
      channel.fates.push(hanging(shown))
      await rig.say('', message)
      await channel.called(1)
      await rig.crash()
      await rig.pass(backAfterMs)
      await rig.ready()
      return message
    }
    return { rig, channel, killed }
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

  test('killed after the bytes left and back within the window: looked for, for no clock is sure of its age', async () => {
    const { rig, channel, killed } = await open()
    await killed(true, 30_000)
    await rig.pass(1_000)
    expect([channel.visible(DM), channel.givenBack, channel.looks.length]).toEqual([['hello'], 0, 1])
  })

  test('back after the window, the message in the history: exactly one', async () => {
    const { rig, channel, killed } = await open()
    const message = await killed(true)
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(channel.looks).toHaveLength(1)
    expect(await rig.rows(message.source)).toMatchObject([
      { state: 'sent', messageId: expect.stringContaining('first-') },
    ])
  })

  test.each([
    ['another account', 'telegram@second:direct:7', 1],
    ['another platform', 'slack:direct:7', 1],
    ['the same account', DM, 2],
  ])('a message whose id and chat %s has too is ours, unless that is in the same chat', async (_, other, shown) => {
    const { rig, channel, killed } = await open()
    channel.history = () => ({ kind: 'found', messages: [{ messageId: 'm7' }] })
    const theirs = rig.message('hello', { address: parseAddress(other) })
    await rig.store.write(async (tx) => {
      const planned = await rig.delivery.plan(tx, theirs)
      for (const { id } of planned.entries) await tx.outbox.settle(id, { state: 'sent', messageId: 'm7', at: 1 })
    })
    await killed(true)
    expect(channel.visible(DM)).toHaveLength(shown)
  })

  test('F-A04: found, and it shows less than the whole: it becomes the whole', async () => {
    const { rig, channel } = await open(0)
    channel.fates.push(answerLost)
    channel.history = () => ({ kind: 'found', messages: [{ messageId: 'm1', outdated: true }] })
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
    const { rig, channel, killed } = await open()
    const message = await killed(false)
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent' }])
  })

  test('an outage longer than the window after a lost answer: looked for, never sent blindly', async () => {
    const { rig, channel } = await open()
    channel.fates.push(answerLost, ...Array.from({ length: 8 }, () => unreachable))
    await rig.say('hello')
    await rig.pass(200_000)
    expect(channel.visible(DM)).toEqual(['hello'])
    expect(channel.looks).toMatchObject([{ ageMs: expect.toSatisfy((age: number) => age >= WINDOW && age < 200_000) }])
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

  test('F-A13: without history scope a reply is repeated once, marked', async () => {
    const { rig, channel } = await open(0)
    channel.history = () => ({ kind: 'cannot_tell', reason: 'missing_scope' })
    channel.fates.push(swallowed)
    await rig.say('hello')
    await rig.pass(60_000)
    expect(channel.visible(DM)).toEqual(['(repeat) hello'])
  })

  test.each([
    ['within the time of the key: the same call, and one message', 30_000, ['hello']],
    ['after it: repeated once, marked', 300_000, ['hello', '(repeat) hello']],
  ])('killed in a send where the history is closed, and back %s', async (_, backAfterMs, visible) => {
    const { rig, channel, killed } = await open()
    channel.history = () => ({ kind: 'cannot_tell', reason: 'the history is shown empty' })
    await killed(true, backAfterMs)
    await rig.say('next')
    await rig.pass(15_000)
    expect(channel.visible(DM)).toEqual([...visible, 'next'])
  })

  test('F-C11: a wait that is asked for before the second send is kept', async () => {
    const { rig, channel } = await open()
    channel.fates.push(answerLost, refused('429', { retryAfterMs: 20_000 }))
    await rig.say('hello')
    await rig.pass(19_000)
    expect(channel.givenBack).toBe(0)
    await rig.pass(10_000)
    expect([channel.visible(DM), channel.givenBack]).toEqual([['hello'], 1])
  })
})
