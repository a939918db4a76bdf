import { expect, test } from 'vitest'
import { quotedApplicant } from '../../src/core/quoting.ts'
import { hanging, refused } from './fake-channel.ts'
import { DM, openRig, type Rig } from './rig.ts'

const KEY = 'telegram:4'
const buttons = [{ label: 'Yes', command: '/admit x' }]
const asking = { buttons, quoting: { of: quotedApplicant(KEY), text: 'Somebody asks.' } }

const forget = (rig: Rig) => rig.store.write((tx) => tx.forgetting.unnameApplicant(KEY))

test('S41: a card that waits is sent without the words that it quoted, once these are forgotten', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(refused('too many', { retryAfterMs: 30_000 }))
  await rig.say('Eel asks.', { source, ...asking })
  await rig.pass(10_000)
  await forget(rig)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['Somebody asks.'])
  expect((await rig.rows(source))[0]?.part.buttons).toEqual(buttons)
})

test('S41: the words that a card quoted come back by no repeat of it, once they are forgotten', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(hanging(true))
  await rig.say('Eel asks.', { source, ...asking })
  await rig.channel.called(1)
  await forget(rig)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['Eel asks.', '(repeat) Somebody asks.'])
  expect(JSON.stringify(await rig.rows(source))).not.toContain('Eel')
})

test('S41: a card of several parts keeps its buttons, whatever is left of its words', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(refused('too many', { retryAfterMs: 30_000 }))
  await rig.say('Eel and everybody else who is there asks me whether they may come in.', { source, ...asking })
  await rig.pass(10_000)
  await forget(rig)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['Somebody asks.', '…'])
  expect((await rig.rows(source))[1]?.part.buttons).toEqual(buttons)
})
