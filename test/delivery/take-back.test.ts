import { expect, test } from 'vitest'
import type { TurnId } from '../../src/core/ids.ts'
import { hanging, refused } from './fake-channel.ts'
import { DM, openRig, type Rig } from './rig.ts'

const LONG =
  'The first part of three has words.\n\nThe second part of three has words.\n\nThe third part of three has words.'

type Source = Parameters<Rig['rows']>[0]

function takeBack(rig: Rig, source: Source): Promise<boolean> {
  return rig.store.write((tx) => rig.delivery.takeBack(tx, source as TurnId))
}

const ends = async (rig: Rig, source: Source) =>
  (await rig.rows(source)).map(({ op, state, reason }) => [op, state, ...(reason === undefined ? [] : [reason])])

test('every part of an answer that was sent is deleted', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say('before')
  await rig.say(LONG, { source })
  await rig.pass(60_000)
  expect(await takeBack(rig, source)).toBe(true)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['before'])
  expect(await ends(rig, source)).toEqual([
    ['delete', 'sent'],
    ['delete', 'sent'],
    ['delete', 'sent'],
  ])
})

test('parts that wait for their slot are never sent, with an outcome on record', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say('before')
  await rig.delivery.idle()
  const slow = refused('too many', { retryAfterMs: 30_000 })
  rig.channel.fates.push({ receipt: { kind: 'sent', messageId: 'm2' }, done: true }, slow)
  await rig.say(LONG, { source })
  await rig.pass(10_000)
  expect(rig.channel.visible(DM)).toHaveLength(2)
  expect(await takeBack(rig, source)).toBe(true)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['before'])
  expect(await ends(rig, source)).toEqual([
    ['delete', 'sent'],
    ['send', 'expired', 'it was taken back'],
    ['send', 'expired', 'it was taken back'],
  ])
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'send', 'send', 'delete'])
})

test('while a call is under way nothing is done: a message could appear afterwards', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(hanging(true))
  await rig.say('hello', { source })
  await rig.channel.called(1)
  expect(await takeBack(rig, source)).toBe(false)
  expect(await ends(rig, source)).toEqual([['send', 'sending']])
})

test('what is asked for in a transaction that fails deletes nothing', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.delivery.idle()
  const failing = rig.store.write(async (tx) => {
    await rig.delivery.takeBack(tx, source as TurnId)
    throw new Error('the transaction failed')
  })
  await expect(failing).rejects.toThrow('the transaction failed')
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['hello'])
})

test('a part that may not be deleted any more stays, the others go, and no answer counts as lost', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say(LONG, { source })
  await rig.pass(60_000)
  rig.channel.fates.push(refused("message can't be deleted"))
  await takeBack(rig, source)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['The first part of three has words.'])
  expect(await ends(rig, source)).toEqual([
    ['delete', 'rejected', "message can't be deleted"],
    ['delete', 'sent'],
    ['delete', 'sent'],
  ])
})

test('a crash right after the commit: the next start deletes it', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.delivery.idle()
  rig.up = false
  await takeBack(rig, source)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual([])
  expect(await ends(rig, source)).toEqual([['delete', 'sent']])
})
