import { expect, test } from 'vitest'
import type { AnswersPrivately, PrivatePart } from '../../src/channels/capabilities.ts'
import type { DeliveryReceipt, Recipient } from '../../src/core/outbound.ts'
import { FakeChannel, refused, swallowed } from './fake-channel.ts'
import { KeyedChannel } from './keyed-channel.ts'
import { anInbox, at, GROUP, openRig } from './rig.ts'

const ADA: Recipient = { id: '7', handle: 'token', otherwise: 'direct' }
const ANSWER = { address: at(GROUP), class: 'control', only: ADA, source: anInbox('1') } as const

/** Shows some of it to one person alone; what the history says of that is nothing. */
class PrivateChannel extends KeyedChannel implements AnswersPrivately {
  readonly whispered: { readonly to: Recipient; readonly partNo: number; readonly text: string }[] = []

  async answerPrivately({ recipient, partNo, ...part }: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    this.whispered.push({ to: recipient, partNo, text: part.rendered.text })
    return this.send(part, signal)
  }
}

test('T27: what is for one person alone leaves by that way, part by part', async () => {
  const rig = await openRig()
  const channel = new PrivateChannel(() => rig.clock, 0)
  rig.adapter = channel
  await rig.say('a first sentence that fills a part.\n\nand a second one for the next part', ANSWER)
  await rig.pass(5000)
  expect(channel.whispered.map(({ to, partNo }) => [to, partNo])).toEqual([
    [ADA, 0],
    [ADA, 1],
  ])
})

test('T27: it is taken up after a crash as what it was', async () => {
  const rig = await openRig()
  const channel = new PrivateChannel(() => rig.clock, 0)
  rig.adapter = channel
  rig.up = false
  await rig.say('hello', ANSWER)
  await rig.crash()
  await rig.ready()
  expect(channel.whispered).toEqual([{ to: ADA, partNo: 0, text: 'hello' }])
})

test('T27: one of unknown outcome is looked for in no history, and repeated once, marked', async () => {
  const rig = await openRig()
  const channel = new PrivateChannel(() => rig.clock, 0)
  rig.adapter = channel
  channel.fates.push(swallowed)
  await rig.say('hello', ANSWER)
  await rig.pass(60_000)
  expect(channel.looks).toEqual([])
  expect(channel.whispered).toHaveLength(2)
  expect(channel.whispered[1]?.text).not.toBe('hello')
})

test('T27: who cannot be written to alone is told so where they asked, once, without a word of the answer', async () => {
  const rig = await openRig()
  const channel = new PrivateChannel(() => rig.clock, 0)
  rig.adapter = channel
  channel.fates.push(refused("bot can't initiate conversation with a user"))
  await rig.say('a first sentence that fills a part.\n\nand a second one for the next part', {
    ...ANSWER,
    only: { id: '7', otherwise: 'direct' },
  })
  await rig.pass(60_000)
  expect(channel.whispered.map(({ to, text }) => [to.otherwise, text])).toEqual([
    ['direct', 'a first sentence that fills a part.'],
    ['here', expect.stringContaining('say something to me in a direct chat')],
  ])
})

test.each([
  ['pressed, or typed unseen', ADA, refused('blocked'), 1],
  ['for whoever is there', { id: '7', otherwise: 'here' }, refused('kicked'), 1],
] as const)('T27: nothing is added where it was %s', async (_, only, fate, calls) => {
  const rig = await openRig()
  const channel = new PrivateChannel(() => rig.clock, 0)
  rig.adapter = channel
  channel.fates.push(fate)
  await rig.say('hello', { ...ANSWER, only })
  await rig.pass(60_000)
  expect(channel.whispered).toHaveLength(calls)
})

test('a channel that shows everything to everybody takes it as any answer', async () => {
  const rig = await openRig()
  const channel = new FakeChannel(() => rig.clock)
  rig.adapter = channel
  await rig.say('hello', { ...ANSWER, only: { id: '7', otherwise: 'here' } })
  await rig.pass(1000)
  expect(channel.visible(GROUP)).toEqual(['hello'])
})
