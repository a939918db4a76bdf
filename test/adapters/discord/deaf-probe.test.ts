import { afterEach, describe, expect, test } from 'vitest'
import { WatchedLog } from '../slack/watched-log.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { addressOf, heartbeats, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

const rendered = { text: 'mine', plain: 'mine', markup: 'plain' } as const

/** The account, which has received one message in the channel and one in a direct chat. */
async function listening() {
  const clock = new ManualClock()
  const log = new WatchedLog()
  const rig = await openRig({ clock, logger: log, server: { now: () => clock.now() } })
  rigs.push(rig)
  await rig.listen()
  const { ledger, gateway, world } = rig.server
  const say = (text: string) => world.say({ from: rig.ada, channel: rig.channel, text })
  const sayDirectly = (text: string) => world.say({ from: rig.ada, text })
  say('before')
  sayDirectly('directly before')
  await rig.sink.committed(2)
  const sessions = () => ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'identified')
  const isDown = () => rig.adapter.health().status === 'down'
  const step = async () => {
    await heartbeats(rig.server)
    await clock.advance(30_000)
  }
  /** Lets a pace of the probe pass while heartbeats are acknowledged. */
  const pace = async () => {
    for (let steps = 0; steps < 4; steps++) await step()
  }
  /** Lets time pass until the two places were asked about. */
  const question = async () => {
    const mark = ledger.mark()
    while (ledger.calls('getMessages', mark).length < 2) await step()
  }
  return { ...rig, clock, log, ledger, gateway, say, sayDirectly, sessions, isDown, step, pace, question }
}

describe('F-K12: a gateway that acknowledges heartbeats and tells nothing', () => {
  test.each(['say', 'sayDirectly'] as const)(
    'is found out by two questions, said once, a session is begun and what was missed is read back (%s)',
    async (how) => {
      const opened = await listening()
      const { adapter, clock, log, ledger, gateway, sink, sessions, isDown, pace, question } = opened
      await pace()
      gateway.muted = true
      opened[how]('not told')
      await question()
      expect(sessions()).toBe(1)
      const mark = ledger.mark()
      await question()
      await log.until(isDown)
      expect(adapter.health().detail).toMatch(/shows messages that its gateway did not tell/)
      gateway.muted = false
      await clock.armed(2000)
      await clock.advance(2000)
      await ledger.nextGateway('ready', { after: mark })
      await sink.committed(3)
      opened[how]('told')
      await sink.committed(4)

      expect(sink.texts.slice(2)).toEqual(['not told', 'told'])
      expect(adapter.health().status).toBe('up')
      expect(sessions()).toBe(2)
      expect(log.lines.filter(({ sentence }) => sentence === 'Discord is down.')).toHaveLength(1)
    },
  )
})

describe('F-K12: a session is kept', () => {
  test('where nothing was said', async () => {
    const { sessions, pace, question } = await listening()
    await pace()
    for (let asked = 0; asked < 3; asked++) await question()
    expect(sessions()).toBe(1)
  })

  test('where the newest messages are our own', async () => {
    const { adapter, ada, channel, guild, ledger, sessions, pace, question, signal } = await listening()
    const space = { type: 'guild', id: guild.id } as const
    const directly = addressOf('direct', ada.id)
    for (const address of [addressOf('channel', channel.id, { space }), directly]) {
      const mark = ledger.mark()
      await adapter.send({ address, rendered, key: `own-${address.chat}` }, signal)
      await ledger.next((entry) => entry.kind === 'dispatch' && entry.type === 'MESSAGE_CREATE', { after: mark })
    }
    await pace()
    for (let asked = 0; asked < 3; asked++) await question()
    expect(sessions()).toBe(1)
  })

  test('and nobody is asked where messages are told', async () => {
    const { ledger, say, sink, step } = await listening()
    const mark = ledger.mark()
    for (let told = 0; told < 3; told++) {
      say(`${told}`)
      await sink.committed(3 + told)
      await step()
      await step()
    }
    expect(ledger.calls('getMessages', mark)).toHaveLength(0)
  })
})
