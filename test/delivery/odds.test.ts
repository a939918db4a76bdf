import { expect, test } from 'vitest'
import type { ChannelAdapter } from '../../src/channels/adapter.ts'
import type { TraceId } from '../../src/core/ids.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { answerLost, refused, unreachable } from './fake-channel.ts'
import { at, DM, openRig, type Rig } from './rig.ts'

test('F-F01: an outcome that cannot be stored is kept until it can, and the message is not sent twice', async () => {
  const rig = await openRig()
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true })
  const message = rig.message('hello')
  await rig.say('', message)
  await rig.say('next')
  await rig.channel.called(1)
  rig.diskFull = true
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await rig.pass(20_000)
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'sending' }])
  rig.diskFull = false
  await rig.pass(10_000)
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent', messageId: 'm1' }])
  expect(rig.channel.visible(DM)).toEqual(['hello', 'next'])
})

test('F-F01: nothing is sent whose `sending` cannot be committed', async () => {
  const rig = await openRig()
  rig.up = false
  await rig.say('hello')
  rig.diskFull = true
  await rig.ready()
  await rig.pass(20_000)
  expect(rig.channel.calls).toEqual([])
  rig.diskFull = false
  await rig.pass(10_000)
  expect(rig.channel.visible(DM)).toEqual(['hello'])
})

test('F-F01: a growing reply that cannot be recorded is not shown', async () => {
  const rig = await openRig()
  rig.diskFull = true
  rig.delivery.live({ turnId: rig.ids.turn(), traceId: 'tr_1' as TraceId, address: at(DM) }).push('Hel')
  await rig.pass(3_000)
  expect(rig.channel.calls).toEqual([])
})

test('a chat that holds its answer back keeps no other waiting', async () => {
  const rig = await openRig()
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true })
  await rig.say('slow')
  await rig.channel.called(1)
  await Promise.all(
    Array.from({ length: 50 }, (_, chat) => rig.say('quick', { address: at(`telegram:direct:1${chat}`) })),
  )
  await rig.channel.called(51)
  expect(rig.channel.calls).toHaveLength(51)
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await rig.delivery.idle()
})

test('after an outage every lane goes on, in the order of its own messages', async () => {
  const rig = await openRig()
  rig.up = false
  for (let chat = 0; chat < 150; chat++) {
    await Promise.all(['one', 'two'].map((text) => rig.say(text, { address: at(`telegram:direct:${chat}`) })))
  }
  await rig.crash()
  await rig.ready()
  const seen = Array.from({ length: 150 }, (_, chat) => rig.channel.visible(`telegram:direct:${chat}`))
  expect(seen).toEqual(seen.map(() => ['one', 'two']))
})

async function firstShown(rig: Rig): Promise<{ source: ReturnType<Rig['ids']['turn']> }> {
  const turnId = rig.ids.turn()
  const live = rig.delivery.live({ turnId, traceId: 'tr_1' as TraceId, address: at(DM), replyTo: '5' })
  live.push('Hel')
  await rig.pass(1_000)
  await live.settle()
  return { source: turnId }
}

test.each([
  ['was never sent', unreachable, 'expired'],
  ['was refused', refused('blocked'), 'rejected'],
  ['is of unknown fate', answerLost, 'given_up'],
] as const)('S28: silence after a first message that %s sends nothing more', async (_, fate, state) => {
  const rig = await openRig()
  rig.channel.fates.push(fate)
  const { source } = await firstShown(rig)
  await rig.say('<NO_REPLY>', { source })
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(1)
  expect(await rig.rows(source)).toMatchObject([{ state }])
})

test('a reply that ends empty takes back what was shown and says so', async () => {
  const rig = await openRig()
  const { source } = await firstShown(rig)
  const planned = await rig.say(' ', { source })
  await rig.delivery.idle()
  expect([planned.outcome, rig.channel.visible(DM)]).toEqual(['empty', []])
})

test('a channel that cannot edit shows nothing early and gets the answer whole', async () => {
  const rig = await openRig()
  rig.adapter = onlySends(rig.channel)
  const { source } = await firstShown(rig)
  expect(rig.channel.calls).toEqual([])
  await rig.say('Hello', { source })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['Hello'])
})

test('a channel that no longer edits or deletes gets the answer anew, and keeps what it cannot take back', async () => {
  const rig = await openRig()
  const [answered, silent] = [await firstShown(rig), await firstShown(rig)]
  rig.adapter = onlySends(rig.channel)
  await rig.say('Hello', answered)
  await rig.say('<NO_REPLY>', silent)
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['Hel', 'Hel', 'Hello'])
  expect(await rig.rows(silent.source)).toMatchObject([{ state: 'rejected', op: 'delete' }])
})

function onlySends(channel: Rig['channel']): ChannelAdapter {
  return {
    id: channel.id,
    start: () => channel.start(),
    stop: () => channel.stop(),
    health: () => channel.health(),
    send: (part, signal) => channel.send(part, signal),
  }
}
