import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

/** Answers with what it was asked last; silent when it is told to hush. */
const attentive: Script = (request) => {
  const asked = lastUserText(request).split('\n').at(-1) ?? ''
  return textReply(asked.includes('hush') ? '<NO_REPLY>' : `heard ${asked}`)
}

async function workshop(): Promise<SlackHousehold & { channel: string }> {
  const house = await startSlackHousehold({ script: attentive })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  return Object.assign(house, { channel: id })
}

/** Everything the model was told in the request that ends with these words. */
function toldWith(house: SlackHousehold, words: string): string {
  const asked = (request: MessagesRequest) => lastUserText(request).includes(words)
  return JSON.stringify(house.anthropic.ledger.requests().find(asked)?.messages)
}

/** The message that answers, once all these words are shown: answers grow by edits. */
const answerTo = (house: SlackHousehold, words: string) =>
  house.slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

describe('Slack, end to end', () => {
  it('UB4: two threads of one channel have contexts of their own and are answered in place', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const { channel } = house
    const first = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    expect(await answerTo(house, 'the boiler leaks')).toMatchObject({ channel, thread: first.ts })
    const second = world.say({ from: 'U444', channel, text: '<@U0BOT> the lamp is broken' })
    expect(await answerTo(house, 'the lamp is broken')).toMatchObject({ channel, thread: second.ts })

    world.say({ from: 'U444', channel, thread: first, text: '<@U0BOT> and now?' })
    expect(await answerTo(house, 'and now?')).toMatchObject({ channel, thread: first.ts })
    world.say({ from: 'U444', channel, thread: second, text: '<@U0BOT> what else?' })
    expect(await answerTo(house, 'what else?')).toMatchObject({ channel, thread: second.ts })

    expect(toldWith(house, 'and now?')).toContain('the boiler leaks')
    expect(toldWith(house, 'and now?')).not.toContain('lamp')
    expect(toldWith(house, 'what else?')).toContain('the lamp is broken')
    expect(toldWith(house, 'what else?')).not.toContain('and now?')
    expect(toldWith(house, 'what else?')).toContain('[in the channel before, answered there] @parley the boiler leaks')
    expect(toldWith(house, 'what else?')).not.toContain('heard [Bob] @parley the boiler leaks')
    expect(ledger.fromBot().filter(({ thread }) => thread === null)).toEqual([])
    expect(world.messages(channel, { by: 'bot' })).toHaveLength(4)
  })

  it('K12: an owner who addresses nobody at the root is answered in a thread of that message, and goes on there', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const { channel } = house
    const aside = world.say({ from: 'U444', channel, text: 'nobody asked me' })
    await ledger.confirmed(aside.ts)
    const root = world.say({ from: 'U333', channel, text: 'thinking aloud' })
    expect(await answerTo(house, 'thinking aloud')).toMatchObject({ channel, thread: root.ts })
    world.say({ from: 'U444', channel, thread: root, text: '<@U0BOT> go on' })
    expect(await answerTo(house, 'go on')).toMatchObject({ channel, thread: root.ts })
    expect(toldWith(house, 'go on')).toContain('thinking aloud')
    expect(toldWith(house, 'go on')).toContain('[in the channel before] nobody asked me')
    expect(ledger.fromBot().filter(({ thread }) => thread === null)).toEqual([])
  })

  it('UB4: a silent reply leaves nothing in the thread', async () => {
    const house = await workshop()
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> hush' })
    await house.anthropic.ledger.nextEnded()
    world.say({ from: 'U444', channel, thread: root, text: '<@U0BOT> speak' })
    await answerTo(house, 'speak')

    expect(world.messages(channel, { by: 'bot' }).map(({ message }) => message.text)).toEqual([
      expect.stringContaining('speak'),
    ])
    expect(world.messages(channel, { by: 'bot', deleted: true })).toEqual([])
  })

  it('UB4: after a restart in the middle each thread goes on where it was, and nothing is lost or said twice', async () => {
    const house = await workshop()
    const { world } = house.slack
    const { channel } = house
    const first = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await answerTo(house, 'the boiler leaks')
    const second = world.say({ from: 'U444', channel, text: '<@U0BOT> the lamp is broken' })
    await answerTo(house, 'the lamp is broken')
    await house.stop()
    world.say({ from: 'U444', channel, thread: second, text: '<@U0BOT> said while you were away' })
    world.say({ from: 'U444', channel, thread: first, text: '<@U0BOT> and this too' })
    await house.start()

    expect(await answerTo(house, 'while you were away')).toMatchObject({ channel, thread: second.ts })
    expect(await answerTo(house, 'and this too')).toMatchObject({ channel, thread: first.ts })
    expect(toldWith(house, 'while you were away')).toContain('lamp')
    expect(toldWith(house, 'while you were away')).not.toContain('and this too')
    expect(toldWith(house, 'and this too')).toContain('boiler')
    expect(world.messages(channel, { by: 'bot' })).toHaveLength(4)
    expect(world.messages(channel, { by: 'bot', thread: null })).toEqual([])
  })

  it('S27: names are in the prompt, and what was not addressed to the bot is context', async () => {
    const house = await workshop()
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U333', channel, text: '<@U0BOT> begin' })
    await answerTo(house, 'begin')
    world.say({ from: 'U444', channel, thread: root, text: 'just between us' })
    world.say({ from: 'U444', channel, thread: root, text: '<@U0BOT> summary please' })
    await answerTo(house, 'summary please')

    expect(toldWith(house, 'summary please')).toContain('[Bob] [not directed at you] just between us')
    expect(world.messages(channel, { by: 'bot' })).toHaveLength(2)
  })

  it('the double event of a mention is one message', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const root = world.say({ from: 'U444', channel: house.channel, text: '<@U0BOT> once' })
    await answerTo(house, 'once')
    await ledger.confirmed(root.ts)

    expect(ledger.count((entry) => entry.kind === 'event' && entry.step === 'offered' && entry.ts === root.ts)).toBe(2)
    expect(house.anthropic.ledger.requests()).toHaveLength(1)
    expect(await house.daemon.operator.why(root.ts)).toHaveLength(1)
  })

  it('UB6: the owner is answered in a direct chat, also after a restart, and silence is silent', async () => {
    const house = await workshop()
    const { world } = house.slack
    const direct = world.direct('U333').id
    world.say({ from: 'U333', text: 'good morning' })
    expect(await answerTo(house, 'good morning')).toMatchObject({ channel: direct, thread: null })
    world.say({ from: 'U333', text: 'hush' })
    await house.stop()
    await house.start()
    world.say({ from: 'U333', text: 'still there?' })
    await answerTo(house, 'still there?')

    expect(toldWith(house, 'still there?')).toContain('good morning')
    expect(world.messages(direct, { by: 'bot' })).toHaveLength(2)
  })

  it('UB6: a stranger is refused politely once', async () => {
    const house = await workshop()
    const { world } = house.slack
    const direct = world.direct('U555').id
    const first = world.say({ from: 'U555', text: 'let me in' })
    await house.slack.ledger.nextFromBot('sent', { where: ({ channel }) => channel === direct })
    const second = world.say({ from: 'U555', text: 'please' })
    await house.slack.ledger.confirmed(second.ts)
    await house.stop()

    expect(world.messages(direct, { by: 'bot' })).toHaveLength(1)
    expect(house.anthropic.ledger.requests()).toEqual([])
    expect(first.ts).not.toBe(second.ts)
  })
})
