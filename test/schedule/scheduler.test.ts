import { describe, expect, it, test } from 'vitest'
import { toScheduleId } from '../../src/core/ids.ts'
import { HOUR_MS, hourly, MORNING, startRig, utc } from './rig.ts'

describe('a schedule', () => {
  it('hands its prompt to the pipeline at the slot, not before it, as its own session', async () => {
    const rig = await startRig()
    await rig.at(utc(9, 59, 59))
    expect(rig.accepted).toEqual([])
    await rig.at(utc(10))
    expect(rig.accepted).toMatchObject([
      {
        origin: 'schedule',
        schedule: { id: 'morning', creator: { role: 'owner' } },
        event: { kind: 'message', text: 'What is new?', eventKey: 'schedule:morning@2026-11-21T10:00:00.000Z' },
        reply: { address: hourly.deliverTo },
      },
    ])
    await rig.finish('silent')
    expect(await rig.slots()).toEqual(['10:00 done silent'])
  })

  it('a run that failed leaves its outcome, and the next slot runs', async () => {
    const rig = await startRig()
    await rig.at(utc(10))
    await rig.finish('failed')
    await rig.at(utc(11))
    expect(await rig.slots()).toEqual(['10:00 failed failed', '11:00 claimed'])
  })

  it('a paused one does not run', async () => {
    const rig = await startRig()
    await rig.store.write((tx) => tx.schedules.setPaused(MORNING, true, utc(9, 40)))
    await rig.at(utc(10))
    expect(await rig.slots()).toEqual([])
  })

  it('a store that cannot take it in loses nothing: the slot runs when it can, once', async () => {
    let full = true
    const rig = await startRig({ refuses: () => full })
    await expect(rig.at(utc(10))).rejects.toThrow('the disk is full')
    expect(await rig.slots()).toEqual(['10:00 claimed'])
    full = false
    await rig.tick()
    await rig.tick()
    expect(rig.ran()).toEqual(['10:00'])
  })

  it('one made by somebody who is nobody any more is refused, with the reason', async () => {
    const rig = await startRig({ roles: { bob: 'member' } })
    for (const creator of ['bob', 'cy'] as const) {
      const made = {
        id: toScheduleId(creator),
        source: 'command',
        definition: hourly,
        creator: creator as never,
      } as const
      await rig.store.write((tx) => tx.schedules.put(made, utc(9, 30)))
    }
    await rig.scheduler().reload()
    await rig.at(utc(10))
    expect(rig.accepted.map(({ schedule }) => [schedule?.id, schedule?.creator.role])).toEqual([
      ['bob', 'member'],
      ['morning', 'owner'],
    ])
    const [refused] = await rig.store.read.schedules.recent(toScheduleId('cy'), 1)
    expect(refused).toMatchObject({ state: 'failed', outcome: expect.stringContaining('nobody I know any more') })
  })
})

describe('F-E04: a machine that slept over slots', () => {
  test.each([
    ['skip', { kind: 'skip' }, ['10:00 skipped missed', '11:00 skipped missed', '12:00 skipped missed']],
    ['once', { kind: 'once' }, ['10:00 skipped missed', '11:00 skipped missed', '12:00 claimed']],
    ['all(2)', { kind: 'all', most: 2 }, ['10:00 skipped missed', '11:00 claimed', '12:00 claimed']],
    ['all(9)', { kind: 'all', most: 9 }, ['10:00 claimed', '11:00 claimed', '12:00 claimed']],
  ] as const)('%s', async (_name, missed, slots) => {
    const rig = await startRig({ definition: { missed } })
    await rig.at(utc(12, 30))
    expect(await rig.slots()).toEqual(slots)
  })

  it('several that are caught up run one after another, each by itself', async () => {
    const rig = await startRig({ definition: { missed: { kind: 'all', most: 3 } } })
    await rig.at(utc(12, 30))
    const begun = [rig.ran().length]
    for (let run = 0; run < 3; run++) {
      await rig.finish()
      begun.push(rig.ran().length)
    }
    expect(begun).toEqual([1, 2, 3, 3])
    expect(rig.ran()).toEqual(['10:00', '11:00', '12:00'])
  })

  it('once: a slot that is on time covers those before it', async () => {
    const rig = await startRig()
    await rig.at(utc(12, 0, 40))
    expect(await rig.slots()).toEqual(['10:00 skipped missed', '11:00 skipped missed', '12:00 claimed'])
  })

  it('a slot found within a minute is on time whatever the policy', async () => {
    const rig = await startRig({ definition: { missed: { kind: 'skip' } } })
    await rig.at(utc(10, 1))
    expect(rig.ran()).toEqual(['10:00'])
  })

  it('months are bounded: the newest hundred slots are on record and no more run than the policy says', async () => {
    const rig = await startRig()
    await rig.at(utc(9, 30) + 90 * 24 * HOUR_MS)
    expect(await rig.slots()).toHaveLength(100)
    expect(rig.accepted).toHaveLength(1)
  })
})

describe('F-E05: a clock that is set', () => {
  it('an hour on, an hour back, a day on: no slot twice, and what it passed over follows the policy', async () => {
    const rig = await startRig()
    await rig.at(utc(10))
    await rig.finish()
    await rig.at(utc(11, 5))
    await rig.finish()
    await rig.at(utc(10, 5))
    await rig.at(utc(11, 0, 1))
    expect(rig.ran()).toEqual(['10:00', '11:00'])
    await rig.at(utc(11, 1) + 24 * HOUR_MS)
    await rig.finish()
    const ran = rig.accepted.map(({ event }) => event.sentAt)
    expect(ran).toEqual([utc(10), utc(11), utc(11) + 24 * HOUR_MS])
  })

  it('set a year ahead by mistake and back again, the schedule goes on at once', async () => {
    const rig = await startRig()
    await rig.at(utc(9, 40) + 365 * 24 * HOUR_MS)
    await rig.finish()
    await rig.at(utc(9, 50))
    await rig.at(utc(10))
    expect(rig.ran().at(-1)).toBe('10:00')
    expect(rig.accepted).toHaveLength(2)
  })

  it('F-E13: ten steps of ten seconds back around a slot run it once', async () => {
    const rig = await startRig()
    for (let step = 0; step < 10; step++) {
      await rig.at(utc(10, 0, 2))
      await rig.at(utc(9, 59, 52))
    }
    await rig.at(utc(10, 0, 2))
    await rig.finish()
    expect(rig.ran()).toEqual(['10:00'])
    expect(await rig.slots()).toEqual(['10:00 done answered'])
  })
})

describe('overlap', () => {
  it('skip: a slot that comes while the run before goes on is left out', async () => {
    const rig = await startRig()
    await rig.at(utc(10))
    await rig.at(utc(11))
    await rig.finish()
    await rig.at(utc(12))
    expect(await rig.slots()).toEqual(['10:00 done answered', '11:00 skipped overlap', '12:00 claimed'])
  })

  it('queue: it runs when the run before has ended', async () => {
    const rig = await startRig({ definition: { overlap: 'queue' } })
    await rig.at(utc(10))
    await rig.at(utc(11))
    expect(rig.ran()).toEqual(['10:00'])
    await rig.finish()
    expect(rig.ran()).toEqual(['10:00', '11:00'])
  })
})

describe('run now', () => {
  it('runs beside the slots, not twice at once, and a run that nobody has seen end is not in the way', async () => {
    const rig = await startRig()
    const { traceId } = await rig.scheduler().runNow(MORNING)
    expect(rig.accepted).toMatchObject([{ traceId, event: { sentAt: utc(9, 30) } }])
    await expect(rig.scheduler().runNow(MORNING)).rejects.toMatchObject({ code: 'conflict' })
    rig.clock.advance(1_000)
    for (const { id } of await rig.store.read.inbox.recent(1))
      await rig.store.write((tx) => tx.inbox.settle(id, 'answered'))
    await rig.scheduler().runNow(MORNING)
    await rig.finish()
    await rig.at(utc(10))
    expect(rig.accepted).toHaveLength(3)
  })

  it('of what is not there is not_found', async () => {
    const rig = await startRig()
    await expect(rig.scheduler().runNow(toScheduleId('nobody'))).rejects.toMatchObject({ code: 'not_found' })
  })
})
