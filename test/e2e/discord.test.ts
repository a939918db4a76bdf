import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordHousehold, startDiscordHousehold } from './discord-household.ts'

const BOT = '<@900000000000000001>'
/** The same as people read it. */
const NAME = '@parley'

/** Answers with what it was asked last; silent when it is told to hush. */
const attentive: Script = (request) => {
  const asked = lastUserText(request).split('\n').at(-1) ?? ''
  return textReply(asked.includes('hush') ? '<NO_REPLY>' : `heard ${asked.split(NAME).at(-1)?.trim()}`)
}

const workshop = () => startDiscordHousehold({ script: attentive })

/** Everything the model was told in the request that ends with these words. */
function toldWith(house: DiscordHousehold, words: string): string {
  const asked = (request: MessagesRequest) => lastUserText(request).includes(words)
  return JSON.stringify(house.anthropic.ledger.requests().find(asked)?.messages)
}

/** The message that answers, once all these words are shown: answers grow by edits. */
const answerTo = (house: DiscordHousehold, words: string) =>
  house.discord.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

/** The model is asked with these words in the last message. */
const askedOf = (house: DiscordHousehold, words: string) =>
  house.anthropic.ledger.nextAccepted({ where: (request) => lastUserText(request).includes(words) })

const answers = (house: DiscordHousehold, channel: { id: string }) =>
  house.discord.world.messages(channel, { bot: true }).map(({ message }) => message.content)

describe('Discord, end to end', () => {
  it('UB3: a channel and a thread in it have contexts of their own and are answered in place', async () => {
    const house = await workshop()
    const { world } = house.discord
    const { channel, thread } = house
    const said = world.say({ from: '444', channel, text: `${BOT} the lamp is broken` })
    expect(await answerTo(house, 'the lamp is broken')).toMatchObject({
      channelId: channel.id,
      message: { message_reference: { message_id: said.id } },
    })
    world.say({ from: '444', channel: thread, text: `${BOT} the boiler leaks` })
    expect(await answerTo(house, 'the boiler leaks')).toMatchObject({ channelId: thread.id })
    world.say({ from: '444', channel: thread, text: `${BOT} and now?` })
    await answerTo(house, 'and now?')

    expect(toldWith(house, 'and now?')).toContain('the boiler leaks')
    expect(toldWith(house, 'and now?')).not.toContain('lamp')
    expect(answers(house, channel)).toHaveLength(1)
    expect(answers(house, thread)).toHaveLength(2)
    const { sessions } = await house.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: false })
    expect(sessions).toHaveLength(2)
  })

  it('UB3: who does not address the bot is context, and the thread takes after the rules of its channel', async () => {
    const house = await workshop()
    const { world } = house.discord
    const { thread } = house
    world.say({ from: '444', channel: thread, text: 'the pump is old' })
    world.say({ from: '555', channel: thread, text: `${BOT} what now?` })
    await answerTo(house, 'what now?')

    expect(answers(house, thread)).toHaveLength(1)
    expect(toldWith(house, 'what now?')).toContain('the pump is old')
  })

  it('UB3: a reply to the bot needs no mention', async () => {
    const house = await workshop()
    const { world } = house.discord
    const { channel } = house
    world.say({ from: '444', channel, text: `${BOT} hello` })
    const { messageId } = (await answerTo(house, 'heard')) as { messageId: string }
    world.say({ from: '444', channel, text: 'and again', replyTo: messageId })

    expect(await answerTo(house, 'and again')).toMatchObject({ channelId: channel.id })
  })

  it('UB3: a silent reply leaves nothing', async () => {
    const house = await workshop()
    const { world, ledger } = house.discord
    const { thread } = house
    world.say({ from: '444', channel: thread, text: `${BOT} hush` })
    await house.anthropic.ledger.nextEnded()
    world.say({ from: '444', channel: thread, text: `${BOT} speak` })
    await answerTo(house, 'speak')

    expect(answers(house, thread)).toEqual(['heard speak'])
    expect(ledger.count((entry) => entry.kind === 'message' && entry.byBot && entry.change === 'deleted')).toBe(0)
  })

  it('UB3: after a restart in the middle nothing is lost or said twice, and each place goes on where it was', async () => {
    const house = await workshop()
    const { world } = house.discord
    const { channel, thread } = house
    world.say({ from: '444', channel, text: `${BOT} the lamp is broken` })
    await answerTo(house, 'the lamp is broken')
    world.say({ from: '444', channel: thread, text: `${BOT} the boiler leaks` })
    await answerTo(house, 'the boiler leaks')
    await house.stop()
    world.say({ from: '444', channel: thread, text: `${BOT} said while you were away` })
    world.say({ from: '555', channel, text: 'nobody asked you' })
    world.say({ from: '444', channel, text: `${BOT} and this too` })
    await house.start()

    expect(await answerTo(house, 'while you were away')).toMatchObject({ channelId: thread.id })
    expect(await answerTo(house, 'and this too')).toMatchObject({ channelId: channel.id })
    expect(toldWith(house, 'while you were away')).toContain('the boiler leaks')
    expect(toldWith(house, 'while you were away')).not.toContain('lamp')
    expect(toldWith(house, 'and this too')).toContain('nobody asked you')
    expect(answers(house, channel)).toHaveLength(2)
    expect(answers(house, thread)).toHaveLength(2)
  })

  it('UB6: the owner is answered in a direct chat, also after a restart, and silence is silent', async () => {
    const house = await workshop()
    const { world } = house.discord
    world.say({ from: '222', text: 'hello' })
    await answerTo(house, 'heard hello')
    await house.stop()
    world.say({ from: '222', text: 'are you there?' })
    await house.start()
    await answerTo(house, 'heard are you there?')
    world.say({ from: '222', text: 'hush' })
    world.say({ from: '222', text: 'goodbye' })
    await answerTo(house, 'goodbye')

    expect(answers(house, world.direct('222').channel)).toEqual([
      'heard hello',
      'heard are you there?',
      'heard goodbye',
    ])
  })

  it('UB6: a stranger is refused politely once', async () => {
    const house = await workshop()
    const { world, ledger } = house.discord
    world.say({ from: '555', text: 'let me in' })
    world.say({ from: '555', text: 'please' })
    const line = await ledger.nextFromBot('sent')
    expect(line).toMatchObject({ channelId: world.direct('555').channel.id, text: expect.stringContaining('owner') })
    world.say({ from: '222', text: 'hello' })
    await answerTo(house, 'heard hello')

    expect(answers(house, world.direct('555').channel)).toHaveLength(1)
  })

  it('a typed command is obeyed, behind a mention too, and one of another bot is left alone', async () => {
    const house = await workshop()
    const { world } = house.discord
    const { channel } = house
    world.say({ from: '222', text: '!new' })
    await answerTo(house, 'fresh')
    world.say({ from: '444', channel, text: '!play that song' })
    world.say({ from: '444', channel, text: `${BOT} /help` })
    await answerTo(house, 'help')

    expect(answers(house, channel)).toHaveLength(1)
  })

  it('a reply that grows is one message, edited until it is whole', async () => {
    const text = 'A sentence that takes its time. '.repeat(12).trim()
    const house = await startDiscordHousehold({ script: () => textReply(text, { delayMs: 60 }) })
    const { world, ledger } = house.discord
    world.say({ from: '222', text: 'tell me' })
    await ledger.nextFromBot('edited', { where: (entry) => entry.text === text })

    expect(answers(house, world.direct('222').channel)).toEqual([text])
    expect(ledger.calls('createMessage')).toHaveLength(1)
  })

  it('F-B13: an intent that is off: the channel is down with the remedy, the daemon runs', async () => {
    const house = await startDiscordHousehold({ script: attentive, discord: { messageContent: false } })
    const { channels } = await house.daemon.operator.status()

    expect(channels).toMatchObject([{ channel: 'discord', status: 'down', detail: expect.stringContaining('Intents') }])
  })

  it('F-A10: an answer that is dropped after its effect gives exactly one message, not marked', async () => {
    const house = await workshop()
    const { world, ledger, faults } = house.discord
    const { channel } = house
    faults.add({ method: 'createMessage', action: { kind: 'drop', when: 'after' } })
    world.say({ from: '444', channel, text: `${BOT} hello` })
    // By its key or, where it was shown as it grew, by the history: either proves that it is there.
    await ledger.next((entry) => entry.kind === 'call' && entry.method === 'createMessage')
    world.say({ from: '444', channel, text: `${BOT} again` })
    await answerTo(house, 'again')

    expect(answers(house, channel)).toEqual(['heard hello', 'heard again'])
    expect((await house.daemon.operator.status()).outbox).not.toHaveProperty('resent')
  })

  it('F-A10: a daemon that goes down over a send whose answer it never read says it once', async () => {
    const house = await workshop()
    const { world, faults } = house.discord
    const { channel } = house
    const held = faults.add({ method: 'createMessage', action: { kind: 'hold', when: 'after' } })
    world.say({ from: '444', channel, text: `${BOT} hello` })
    await held.reached
    const stopped = house.stop()
    held.release('drop')
    await stopped
    await house.start()
    world.say({ from: '444', channel, text: `${BOT} again` })
    await answerTo(house, 'again')

    expect(answers(house, channel)).toEqual(['heard hello', 'heard again'])
  })

  it('F-B10: of 40 messages missed in 6 channels and a direct chat each is handled once, by the same rules', async () => {
    const house = await workshop()
    const { world, gateway, ledger } = house.discord
    const guild = [...world.guilds.keys()][0] ?? ''
    const rooms = numbers(6).map((index) => world.addChannel({ guild, name: `room-${index}` }))
    for (const channel of rooms) world.say({ from: '444', channel, text: `${BOT} first in ${channel.name}` })
    for (const channel of rooms) await answerTo(house, `first in ${channel.name}`)
    world.say({ from: '222', text: 'hello' })
    await answerTo(house, 'heard hello')
    const mark = ledger.mark()
    gateway.forgetSessions()
    gateway.cut()
    const missed = numbers(34).map((count) => {
      const text = count < 17 ? `${BOT} asked ${count}.` : `told ${count}.`
      return world.say({ from: '444', channel: rooms[count % 6] ?? house.channel, text })
    })
    const owned = numbers(6).map((count) => world.say({ from: '222', text: `owner ${count}.` }))
    await ledger.listening({ after: mark })
    for (const channel of rooms) world.say({ from: '444', channel, text: `${BOT} last in ${channel.name}` })
    world.say({ from: '222', text: 'goodbye' })
    for (const channel of rooms) await askedOf(house, `last in ${channel.name}`)
    await askedOf(house, 'goodbye')

    const decisions = await Promise.all([...missed, ...owned].map(({ id }) => house.daemon.operator.why(id)))
    expect(decisions.map((why) => why.map(({ reason }) => reason))).toEqual([
      ...numbers(17).map(() => ['mentioned']),
      ...numbers(17).map(() => ['not_addressed']),
      ...numbers(6).map(() => ['direct']),
    ])
    const requests = house.anthropic.ledger.requests().map(lastUserText).join('\n')
    for (const { content } of [...missed, ...owned]) {
      const read = content.replace(BOT, NAME)
      expect([read, requests.split(read).length - 1]).toEqual([read, 1])
    }
  }, 30_000)
})

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
