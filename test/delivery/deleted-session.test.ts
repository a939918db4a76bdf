import { expect, test } from 'vitest'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { answerLost, hanging } from './fake-channel.ts'
import { DM, openRig } from './rig.ts'

test('S41: what may have arrived is not repeated once its session is deleted', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.say('next')
  await rig.delivery.idle()
  await rig.store.write((tx) => tx.outbox.blank(source))
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['hello', 'next'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'given_up', attempt: 1, part: { text: '' } }])
})

test.each([
  ['arrived', { receipt: { kind: 'sent', messageId: 'm9' } }, 'sent'],
  ['was refused', { receipt: { kind: 'rejected', reason: 'blocked' } }, 'rejected'],
  ['has to wait', { receipt: { kind: 'rejected', reason: 'slow down', retryAfterMs: 1_000 } }, 'expired'],
  ['did not leave', { receipt: { kind: 'not_sent', reason: 'no route' } }, 'expired'],
  ['may have arrived', { receipt: { kind: 'unknown', reason: 'reset' } }, 'given_up'],
] as const)('S41: what was on the wire when its session was deleted keeps no text: it %s', async (_, fate, state) => {
  const rig = await openRig()
  const answered = deferred<DeliveryReceipt>()
  rig.channel.fates.push({ receipt: answered.promise, done: false })
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.channel.called(1)
  await rig.store.write((tx) => tx.outbox.blank(source))
  answered.resolve(fate.receipt)
  await rig.say('next')
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['next'])
  expect(await rig.rows(source)).toMatchObject([{ state, attempt: 1, part: { text: '', plain: '' } }])
})

test('S41: what was on the wire when its session was deleted is not sent again after a crash', async () => {
  const rig = await openRig()
  rig.channel.fates.push(hanging(false))
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.channel.called(1)
  await rig.store.write((tx) => tx.outbox.blank(source))
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual([])
  expect(await rig.rows(source)).toMatchObject([{ state: 'given_up', part: { text: '', plain: '' } }])
})
