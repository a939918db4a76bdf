import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { RecordingLogger } from './recording-logger.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

/** The account on a server that answers polls without news at once, or only after `heldMs`. */
async function open(): Promise<{ rig: Rig; clock: ManualClock; logger: RecordingLogger; polls(): number }> {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const rig = await openRig({ clock, logger, server: { now: () => clock.now() } })
  rigs.push(rig)
  rig.server.world.bot().poller.holds = false
  await rig.adapter.start(rig.sink, rig.signal)
  return { rig, clock, logger, polls: () => rig.server.ledger.calls('getUpdates').length }
}

/** Lets so many seconds pass, each poll being answered before the next second. */
async function pass(clock: ManualClock, seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 4; step++) {
    await clock.advance(250)
    await clock.armed(1000)
  }
}

describe('a server that does not hold polls', () => {
  test('is asked about once a second, which is said once and stands in the health as a hint', async () => {
    const { rig, clock, logger, polls } = await open()
    await clock.armed(250)
    await pass(clock, 10)

    expect(polls()).toBeGreaterThan(5)
    expect(polls()).toBeLessThanOrEqual(14)
    expect(rig.adapter.health()).toMatchObject({
      status: 'up',
      hints: expect.arrayContaining([expect.stringMatching(/^the server at 127\.0\.0\.1:\d+ .*asked once a second/)]),
    })
    expect(logger.lines.filter(({ sentence }) => sentence === 'Polls are not held.')).toHaveLength(1)
  })

  test('gives what is said to the next poll, a second later at most', async () => {
    const { rig, clock } = await open()
    await clock.armed(250)
    await pass(clock, 5)
    const { world } = rig.server
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'hello' })
    await clock.advance(1000)
    await rig.sink.committed(1)

    expect(rig.sink.texts).toEqual(['hello'])
  })

  test('is no longer called so once it holds one', async () => {
    const { rig, clock } = await open()
    await clock.armed(250)
    await pass(clock, 5)
    const { world, ledger } = rig.server
    world.bot().poller.holds = true
    const mark = ledger.mark()
    await clock.advance(1000)
    await ledger.listening({ after: mark })
    await clock.advance(20_000)
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'hello' })
    await rig.sink.committed(1)

    expect(rig.adapter.health().hints).not.toContainEqual(expect.stringContaining('asked once a second'))
  })
})
