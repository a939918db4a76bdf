import { describe, expect, it } from 'vitest'
import type { DeliveryId, TurnId } from '../../src/core/ids.ts'
import { hanging, refused, swallowed } from './fake-channel.ts'
import { DM, openRig, type Rig } from './rig.ts'

const LONG = 'The first part of two has some words.\n\nThe second part of two has words.'

type Source = Parameters<Rig['rows']>[0]

async function idOf(rig: Rig, source: Source, part = 0): Promise<DeliveryId> {
  const row = (await rig.rows(source))[part]
  if (row) return row.id
  throw new Error('there is no such part')
}

const states = async (rig: Rig, source: Source) => (await rig.rows(source)).map(({ state }) => state)

/** A part that may have arrived, and is not repeated by itself. */
async function withLost(): Promise<{ rig: Rig; source: Source }> {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(swallowed)
  await rig.say('hello', { source, class: 'effect' })
  await rig.pass(60_000)
  expect(await states(rig, source)).toEqual(['given_up'])
  return { rig, source }
}

describe('a delivery that an operator retries', () => {
  it('is sent once more, marked where it may have arrived', async () => {
    const { rig, source } = await withLost()
    await rig.delivery.retry(await idOf(rig, source))
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(['(repeat) hello'])
    expect(await states(rig, source)).toEqual(['resent'])
    await expect(rig.delivery.retry(await idOf(rig, source))).rejects.toMatchObject({ code: 'conflict' })
  })

  it('takes along what ended behind it, in order and unmarked where nothing arrived', async () => {
    const rig = await openRig()
    const { source } = rig.message('')
    rig.channel.fates.push(refused('chat not found'))
    await rig.say(LONG, { source })
    await rig.pass(60_000)
    expect(await states(rig, source)).toEqual(['rejected', 'rejected'])
    await rig.delivery.retry(await idOf(rig, source))
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(LONG.split('\n\n'))
    expect(await states(rig, source)).toEqual(['sent', 'sent'])
  })

  it('is sent after a crash that came before the call', async () => {
    const { rig, source } = await withLost()
    rig.up = false
    await rig.delivery.retry(await idOf(rig, source))
    await rig.crash()
    await rig.ready()
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(['(repeat) hello'])
  })

  it('stays as it is once its text was deleted or its turn was taken back', async () => {
    const { rig, source } = await withLost()
    const id = await idOf(rig, source)
    await rig.store.write((tx) => tx.outbox.blank(source))
    await expect(rig.delivery.retry(id)).rejects.toMatchObject({ code: 'conflict' })
    const other = rig.message('').source
    rig.up = false
    await rig.say('bye', { source: other })
    await rig.store.write((tx) => rig.delivery.takeBack(tx, other as TurnId))
    await expect(rig.delivery.retry(await idOf(rig, other))).rejects.toMatchObject({ code: 'conflict' })
    await expect(rig.delivery.retry('out_none' as DeliveryId)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a delivery that an operator drops', () => {
  it('is never sent where it waits, and holds up nothing behind it', async () => {
    const rig = await openRig()
    const { source } = rig.message('')
    rig.up = false
    await rig.say('hello', { source })
    await rig.say('world')
    await expect(rig.delivery.retry(await idOf(rig, source))).rejects.toMatchObject({ code: 'conflict' })
    await rig.delivery.drop(await idOf(rig, source))
    await rig.ready()
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(['world'])
    expect(await states(rig, source)).toEqual(['expired'])
    await expect(rig.delivery.drop(await idOf(rig, source))).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is not repeated where nobody knows whether it arrived', async () => {
    const rig = await openRig()
    const { source } = rig.message('')
    rig.channel.fates.push(swallowed)
    await rig.say('hello', { source })
    await rig.delivery.idle()
    expect(await states(rig, source)).toEqual(['uncertain'])
    await rig.delivery.drop(await idOf(rig, source))
    await rig.pass(3_600_000)
    expect(rig.channel.visible(DM)).toEqual([])
    expect(await rig.rows(source)).toMatchObject([{ state: 'given_up' }])
    expect(await rig.store.read.outbox.undecidedCount()).toBe(0)
  })

  it('is looked at by nobody any more once it was given up, and can be sent all the same', async () => {
    const { rig, source } = await withLost()
    const id = await idOf(rig, source)
    expect(await rig.store.read.outbox.undecidedCount()).toBe(1)
    await rig.delivery.drop(id)
    expect(await rig.store.read.outbox.undecidedCount()).toBe(0)
    expect(await states(rig, source)).toEqual(['given_up'])
    await expect(rig.delivery.drop(id)).rejects.toMatchObject({ code: 'conflict' })
    await rig.delivery.retry(id)
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(['(repeat) hello'])
  })

  it('is left alone while its call is under way', async () => {
    const rig = await openRig()
    const { source } = rig.message('')
    rig.channel.fates.push(hanging(true))
    await rig.say('hello', { source })
    await rig.channel.called(1)
    await expect(rig.delivery.drop(await idOf(rig, source))).rejects.toMatchObject({ code: 'conflict' })
    expect(await states(rig, source)).toEqual(['sending'])
  })
})
