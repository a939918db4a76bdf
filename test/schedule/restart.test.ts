import { describe, expect, it, test } from 'vitest'
import { toScheduleId } from '../../src/core/ids.ts'
import type { CronDefinition } from '../../src/core/schedule.ts'
import { hourly, MORNING, type Rig, startRig, utc } from './rig.ts'

describe('a daemon that was down', () => {
  test.each([
    ['skip', { kind: 'skip' }, []],
    ['once', { kind: 'once' }, ['12:00']],
    ['all(2)', { kind: 'all', most: 2 }, ['11:00', '12:00']],
  ] as const)('F-E06: over three slots, %s', async (_name, missed, ran) => {
    const rig = await startRig({ definition: { missed } })
    await rig.scheduler().stop()
    rig.clock.advance(utc(12, 30) - rig.clock.now())
    await rig.restart()
    for (let run = 0; run < 3; run++) await rig.finish()
    expect(rig.ran()).toEqual(ran)
  })

  test.each([0, 1, 30, 59, 60])(
    'F-E07: started again %i s after a slot ran, it does not run it again',
    async (seconds) => {
      const rig = await startRig()
      await rig.at(utc(10))
      await rig.finish()
      await rig.restart()
      await rig.at(utc(10, 0, seconds))
      await rig.configure({ id: MORNING, definition: hourly })
      await rig.tick()
      expect(rig.ran()).toEqual(['10:00'])
    },
  )
})

/** Claims the slot and dies before anything of it is handed on. */
async function crashAfterClaim(definition: Partial<CronDefinition>): Promise<Rig> {
  let dead = false
  const rig = await startRig({ definition, refuses: () => dead })
  dead = true
  await rig.at(utc(10)).catch(() => {})
  dead = false
  return rig
}

describe('F-E08: a crash right after the claim (CP15)', () => {
  test.each(['skip', 'once'] as const)('%s: found again at once, the slot runs, and once', async (kind) => {
    const rig = await crashAfterClaim({ missed: { kind } })
    await rig.restart('crash')
    rig.clock.advance(20_000)
    await rig.tick()
    await rig.tick()
    await rig.restart('crash')
    await rig.tick()
    expect(rig.ran()).toEqual(['10:00'])
  })

  it('once: it also runs when it is found late', async () => {
    const rig = await crashAfterClaim({ missed: { kind: 'once' } })
    rig.clock.advance(5 * 60_000)
    await rig.restart('crash')
    await rig.tick()
    expect(rig.ran()).toEqual(['10:00'])
  })

  it('skip: found late it is on record as interrupted and does not run', async () => {
    const rig = await crashAfterClaim({ missed: { kind: 'skip' } })
    rig.clock.advance(5 * 60_000)
    await rig.restart('crash')
    await rig.tick()
    expect(rig.ran()).toEqual([])
    expect(await rig.slots()).toEqual(['10:00 skipped missed: interrupted before it began'])
  })

  it('a run that had begun is left to its turn and never handed on again', async () => {
    const rig = await startRig()
    await rig.at(utc(10))
    rig.clock.advance(5 * 60_000)
    await rig.restart('crash')
    await rig.tick()
    expect(rig.ran()).toEqual(['10:00'])
    await rig.finish()
    expect(await rig.slots()).toEqual(['10:00 done answered'])
  })

  it('F-E09: two processes on one store run each slot once', async () => {
    const rig = await startRig()
    const first = rig.scheduler()
    await rig.restart('crash')
    for (let hour = 10; hour < 22; hour++) {
      rig.clock.advance(utc(hour) - rig.clock.now())
      await Promise.all([first.tick(), rig.tick()])
      await rig.finish()
      await first.tick()
    }
    expect(new Set(rig.ran()).size).toBe(12)
    expect(rig.accepted).toHaveLength(12)
  })
})

describe('F-E11: a schedule that is changed or removed', () => {
  const noon: CronDefinition = { ...hourly, cron: '0 12 * * *' }

  it('while armed: the old time never comes', async () => {
    const rig = await startRig()
    await rig.configure({ id: MORNING, definition: noon })
    await rig.at(utc(10))
    await rig.at(utc(11))
    expect(rig.ran()).toEqual([])
    await rig.at(utc(12))
    expect(rig.ran()).toEqual(['12:00'])
  })

  it('past a scheduler that has not been told: the store decides', async () => {
    const rig = await startRig()
    await rig.store.write((tx) => tx.schedules.remove(MORNING))
    await rig.at(utc(10))
    expect(await rig.slots()).toEqual([])
  })

  it.each([
    ['removed', []],
    ['changed', [{ id: MORNING, definition: noon }]],
  ])('claimed and not begun, it is %s and does not run', async (outcome, configured) => {
    const rig = await crashAfterClaim({})
    await rig.configure(...configured)
    await rig.tick()
    expect(rig.ran()).toEqual([])
    expect(await rig.slots()).toEqual([`10:00 skipped ${outcome}`])
  })

  it('while running: the run ends as it began, and the old time does not come again', async () => {
    const rig = await startRig()
    await rig.at(utc(10))
    await rig.configure()
    await rig.finish()
    await rig.at(utc(11))
    expect(await rig.slots()).toEqual(['10:00 done answered'])
  })

  it('with another prompt it keeps its times, missed ones too', async () => {
    const rig = await startRig()
    rig.clock.advance(utc(10, 30) - rig.clock.now())
    await rig.configure({ id: MORNING, definition: { ...hourly, prompt: 'And now?' } })
    await rig.tick()
    expect(rig.accepted).toMatchObject([{ event: { text: 'And now?' } }])
  })
})

it('F-E15: twenty-eight jobs read ten times are twenty-eight, and run once each', async () => {
  const jobs = Array.from({ length: 28 }, (_, no) => ({ id: toScheduleId(`job-${no}`), definition: hourly }))
  const rig = await startRig()
  for (let time = 0; time < 10; time++) await rig.configure(...jobs)
  expect(await rig.store.read.schedules.all()).toHaveLength(28)
  await rig.at(utc(10))
  for (let time = 0; time < 10; time++) await rig.configure(...jobs)
  await rig.tick()
  expect(rig.accepted).toHaveLength(28)
})

it('a time nobody checked is refused at the start, by name', async () => {
  const rig = await startRig()
  const wrong = { id: MORNING, definition: { ...hourly, cron: '0 25 * * *' } }
  await expect(rig.configure(wrong)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('schedules.morning.cron'),
  })
})
