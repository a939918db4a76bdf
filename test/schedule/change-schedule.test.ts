import { describe, expect, it } from 'vitest'
import { toScheduleId } from '../../src/core/ids.ts'
import type { RequestId } from '../../src/core/keyed-request.ts'
import { operatorSchedules } from '../../src/schedule/schedule-service.ts'
import { hourly, MORNING, startRig, utc } from './rig.ts'

async function startChanged() {
  const rig = await startRig()
  const schedules = operatorSchedules({
    store: rig.store,
    clock: rig.clock,
    isPlace: ({ channel }) => channel === 'telegram',
    changed: () => rig.scheduler().reload(),
  })
  return { rig, schedules }
}

describe('a schedule that the operator changes', () => {
  it('leaves its slots out while it is paused, and makes none of them up afterwards', async () => {
    const { rig, schedules } = await startChanged()
    expect(await schedules.pause(MORNING)).toMatchObject({ id: MORNING, paused: true })
    await rig.at(utc(11))
    expect(await schedules.resume(MORNING)).toMatchObject({ paused: false, nextAt: utc(12) })
    await rig.at(utc(11, 30))
    expect(await rig.slots()).toEqual([])
    await rig.at(utc(12))
    expect(await rig.slots()).toEqual(['12:00 claimed'])
  })

  it('is paused and resumed twice with the effect of once', async () => {
    const { rig, schedules } = await startChanged()
    await schedules.pause(MORNING)
    await schedules.pause(MORNING)
    await schedules.resume(MORNING)
    await rig.at(utc(10))
    await schedules.resume(MORNING)
    expect(await rig.slots()).toEqual(['10:00 claimed'])
  })

  it('owes a reminder for one time that came due in a pause', async () => {
    const { rig, schedules } = await startChanged()
    const id = toScheduleId('r1')
    const { cron: _, ...task } = hourly
    const definition = { ...task, at: utc(10), missed: { kind: 'once' } } as const
    await rig.store.write((tx) => tx.schedules.put({ id, source: 'command', definition }, utc(9, 30)))
    await schedules.pause(MORNING)
    await schedules.pause('r1')
    await rig.at(utc(11))
    expect(rig.ran()).toEqual([])
    await schedules.resume('r1')
    await rig.tick()
    expect((await rig.store.read.schedules.recent(id, 9)).map(({ slotAt }) => slotAt)).toEqual([utc(10)])
  })

  it('is removed if it was made in a chat; one of the configuration stays', async () => {
    const { rig, schedules } = await startChanged()
    const id = toScheduleId('r1')
    await rig.store.write((tx) => tx.schedules.put({ id, source: 'command', definition: hourly }, utc(9, 30)))
    expect(await schedules.remove('r1')).toMatchObject({ id: 'r1' })
    await expect(schedules.remove('r1')).rejects.toMatchObject({ code: 'not_found' })
    await expect(schedules.remove(MORNING)).rejects.toMatchObject({ code: 'conflict' })
    expect((await schedules.list()).map((one) => one.id)).toEqual([MORNING])
    await expect(schedules.pause('none')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a schedule that the operator adds', () => {
  const words = 'every day at 12:00 stretch'

  it('is said at its times, ends with the last, and is made once for one request', async () => {
    const { rig, schedules } = await startChanged()
    await schedules.pause(MORNING)
    const wanted = { to: 'telegram:group:-1002/7', words: 'every day at 12:00 2 times stretch', timezone: 'UTC' }
    const once = 'request' as RequestId
    const { id, when, nextAt } = await schedules.add(wanted, once)
    expect((await schedules.add(wanted, once)).id).toBe(id)
    expect(await schedules.list()).toHaveLength(2)
    expect([when, nextAt]).toEqual([expect.stringMatching(/^every day at 12:00 \(UTC\), until .* at 12:00/), utc(12)])
    await rig.at(utc(12))
    expect(rig.accepted.at(-1)?.event).toMatchObject({
      text: 'Reminder: stretch',
      address: { chat: '-1002', topic: '7' },
    })
    await rig.finish()
    await rig.at(utc(36))
    await rig.finish()
    await rig.tick()
    expect((await schedules.list()).map((one) => one.id)).toEqual([MORNING])
  })

  it('ends as well when its last time came while the run before was under way', async () => {
    const { rig, schedules } = await startChanged()
    await schedules.pause(MORNING)
    await schedules.add({ to: 'telegram:group:-1002/7', words: 'every day at 12:00 2 times stretch', timezone: 'UTC' })
    await rig.at(utc(12))
    await rig.at(utc(36))
    await rig.finish()
    await rig.tick()
    expect((await schedules.list()).map((one) => one.id)).toEqual([MORNING])
  })

  it.each([
    ['nowhere', words, 'is not an address'],
    ['slack:channel:C1', words, 'on no channel of the configuration'],
    ['telegram:group:-1002', 'stretch', 'There is no time in that'],
    ['telegram:group:-1002', 'every day at 12:00', 'There is no text'],
    ['telegram:group:-1002', 'next week stretch', 'On which day'],
  ])('at %s with "%s" is refused: %s', async (to, typed, reason) => {
    const { schedules } = await startChanged()
    await expect(schedules.add({ to, words: typed })).rejects.toMatchObject({
      ...{ code: 'invalid', message: expect.stringContaining(reason) },
    })
  })
})
