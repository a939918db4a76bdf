import { describe, expect, it } from 'vitest'
import { toScheduleId } from '../../src/core/ids.ts'
import { operatorSchedules } from '../../src/schedule/schedule-service.ts'
import { hourly, MORNING, startRig, utc } from './rig.ts'

async function startChanged() {
  const rig = await startRig()
  const schedules = operatorSchedules({ store: rig.store, clock: rig.clock, changed: () => rig.scheduler().reload() })
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
