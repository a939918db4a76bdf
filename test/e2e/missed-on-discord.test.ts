import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordHousehold, startDiscordHousehold } from './discord-household.ts'

const BOT = '<@900000000000000001>'
/** The same as people read it. */
const NAME = '@parley'

const attentive: Script = (request) => {
  const asked = lastUserText(request).split('\n').at(-1) ?? ''
  return textReply(`heard ${asked.split(NAME).at(-1)?.trim()}`)
}

/** Ada has spoken directly, and Bob in the channel and its thread. */
async function knownWorkshop() {
  const house = await startDiscordHousehold({ script: attentive })
  const { world } = house.discord
  const inChannel = (text: string) => world.say({ from: '444', channel: house.channel, text })
  const inThread = (text: string) => world.say({ from: '444', channel: house.thread, text })
  const directly = (text: string) => world.say({ from: '222', text })
  inChannel(`${BOT} first here`)
  await answerTo(house, 'first here')
  inThread(`${BOT} first there`)
  await answerTo(house, 'first there')
  directly('hello')
  await answerTo(house, 'heard hello')
  return { house, inChannel, inThread, directly }
}

const answerTo = ({ discord }: DiscordHousehold, words: string, after = 0) =>
  discord.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words), { after })

describe('missed on Discord', () => {
  it('F-B11: three messages that a resumed session never tells are answered once each, without a new session', async () => {
    const { house, inChannel, inThread, directly } = await knownWorkshop()
    const { gateway, ledger } = house.discord
    const mark = ledger.mark()
    gateway.cut()
    gateway.muted = true
    inChannel(`${BOT} lost one`)
    inThread(`${BOT} lost two`)
    directly('lost three')
    gateway.muted = false
    await ledger.nextGateway('resumed', { after: mark })
    for (const words of ['lost one', 'lost two', 'lost three']) await answerTo(house, words, mark)
    inChannel(`${BOT} told again`)
    await answerTo(house, 'told again', mark)

    const asked = house.anthropic.ledger.requests().map(lastUserText)
    for (const words of ['lost one', 'lost two', 'lost three', 'told again']) {
      expect([words, asked.filter((text) => text.includes(words)).length]).toEqual([words, 1])
    }
    expect(ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'identified', mark)).toBe(0)
  })

  it('F-B12: of 5,000 missed in one channel 200 are read, others are answered, and an owner is told', async () => {
    const { house, inChannel, inThread, directly } = await knownWorkshop()
    const { ledger } = house.discord
    await house.stop()
    const mark = ledger.mark()
    const missed = Array.from({ length: 5000 }, (_, at) => inChannel(`said ${at + 1}.`))
    inThread(`${BOT} missed there`)
    directly('missed directly')
    await house.start()
    await answerTo(house, 'heard missed there', mark)
    await answerTo(house, 'heard missed directly', mark)
    const told = await answerTo(house, 'than is read back (200 messages a conversation)', mark)
    inChannel(`${BOT} and now?`)
    await answerTo(house, 'heard and now?', mark)

    expect(told).toMatchObject({ channelId: house.discord.world.direct(house.discord.world.user('222')).channel.id })
    // The answer to what was said first is one of the 200.
    const decided = await Promise.all([0, 198, 199, 4999].map((at) => house.daemon.operator.why(missed[at]?.id ?? '')))
    expect(decided.map((decisions) => decisions.length)).toEqual([1, 1, 0, 0])
    const { channels } = await house.daemon.operator.status()
    expect(channels[0]?.unknown).toMatchObject({ 'back_fill:bounded': 1 })
  })
})
