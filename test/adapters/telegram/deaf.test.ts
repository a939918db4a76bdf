import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { RecordingLogger } from './recording-logger.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

/** The account, which has received one message, on a server that answers polls without news at once. */
async function listening() {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const rig = await openRig({ clock, logger, server: { now: () => clock.now() } })
  rigs.push(rig)
  const { world, ledger } = rig.server
  const { poller } = world.bot()
  poller.holds = false
  await rig.adapter.start(rig.sink, rig.signal)
  const ada = world.addUser({ firstName: 'Ada' })
  const say = (text: string) => world.say({ from: ada, text })
  say('before')
  await clock.armed(1000)
  await clock.advance(1000)
  await rig.sink.committed(1)
  await ledger.next((entry) => entry.kind === 'confirmed')
  /** Lets time pass, each poll being answered before the next second, until something is so. */
  const passUntil = async (ready: () => boolean) => {
    for (let quarters = 0; !ready(); quarters++) {
      if (quarters > 4 * 1000) throw new Error('it never came')
      await clock.armed(1000)
      await clock.advance(250)
    }
  }
  const asked = () => ledger.calls('getWebhookInfo').length
  return { ...rig, clock, logger, ledger, poller, say, passUntil, asked }
}

describe('F-K12: a server that answers polls with nothing although it holds updates', () => {
  test('is found out by two questions, said once, polled anew without an offset, and all it held is taken in', async () => {
    const { adapter, sink, logger, ledger, poller, say, passUntil, asked } = await listening()
    poller.isDeafTo = ({ offset }) => offset > 0
    const began = asked()
    say('held back')
    await passUntil(() => asked() === began + 1)
    expect(adapter.health().status).toBe('up')
    const mark = ledger.mark()
    await passUntil(() => adapter.health().status === 'down')
    expect(adapter.health().detail).toMatch(/holds 1 update.*polls bring nothing.*begun anew/)
    await passUntil(() => sink.events.length === 2)

    expect(sink.texts).toEqual(['before', 'held back'])
    expect(adapter.health()).toMatchObject({ status: 'up' })
    expect(ledger.calls('getUpdates', mark).filter(({ params }) => params.offset === undefined)).toHaveLength(1)
    expect(logger.lines.filter(({ sentence }) => sentence === 'Telegram is down.')).toHaveLength(1)
  })

  test('stays down while polls that were begun anew bring nothing either', async () => {
    const { adapter, ledger, poller, say, passUntil, asked } = await listening()
    poller.isDeafTo = () => true
    say('held back')
    await passUntil(() => adapter.health().status === 'down')
    const before = asked()
    await passUntil(() => asked() > before)
    expect(adapter.health().status).toBe('down')
    poller.isDeafTo = () => false
    const mark = ledger.mark()
    await passUntil(() => adapter.health().status === 'up')
    expect(ledger.count((entry) => entry.kind === 'delivered', mark)).toBe(1)
  })
})

test('F-K12: a bot to whom nobody writes is asked about, and stays up', async () => {
  const { adapter, logger, passUntil, asked } = await listening()
  const began = asked()
  await passUntil(() => asked() === began + 3)
  expect(adapter.health().status).toBe('up')
  expect(logger.lines.filter(({ sentence }) => sentence === 'Telegram is down.')).toHaveLength(0)
})
