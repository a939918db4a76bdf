import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

/** Answers with what it was asked last; silent when it is told to hush. */
const attentive: Script = (request) => {
  const asked = lastUserText(request).split('\n').at(-1) ?? ''
  return textReply(asked.includes('hush') ? '<NO_REPLY>' : `heard ${asked}`)
}

const chatTexts = ({ telegram }: Household, chat: number): string[] =>
  telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')

/** The message that answers, once all these words are shown: answers grow by edits. */
const answerTo = ({ telegram }: Household, words: string) =>
  telegram.ledger.next((one) => one.kind === 'message' && one.botId !== null && one.text.includes(words))

/** The model is asked with these words in three places, so that what is said next is no part of it. */
const asked = (house: Household, words: string) =>
  house.anthropic?.ledger.collect(
    3,
    (entry) => entry.kind === 'accepted' && lastUserText(entry.request).includes(words),
  )

/** Everything the model was told in the request that ends with these words. */
function toldWith(house: Household, words: string): string {
  const ends = (request: MessagesRequest) => lastUserText(request).includes(words)
  return JSON.stringify(house.anthropic?.ledger.requests().find(ends)?.messages)
}

async function family(): Promise<Household & { chat: number }> {
  const house = await startHousehold({ script: attentive })
  const { id } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  return Object.assign(house, { chat: id })
}

describe('UB1: a Telegram group', () => {
  it('UB1: an unaddressed non-owner is stored, a mention and the owner are answered', async () => {
    const house = await family()
    const { telegram, chat } = house
    const overheard = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 555, chat, text: '@parley_bot where?' })
    await answerTo(house, 'where?')
    telegram.world.say({ from: 111, chat, text: 'and when?' })
    await answerTo(house, 'and when?')

    expect(toldWith(house, 'where?')).toContain('[Bob] [not directed at you] dinner at seven')
    expect(await house.daemon.operator.why(String(overheard.message_id))).toMatchObject([{ outcome: 'context' }])
    expect(chatTexts(house, chat)).toEqual([expect.stringContaining('where?'), expect.stringContaining('and when?')])
  })

  it('UB1: a silent reply leaves nothing in the group', async () => {
    const house = await family()
    const { telegram, chat } = house
    telegram.world.say({ from: 444, chat, text: '@parley_bot hush' })
    await house.anthropic?.ledger.nextEnded()
    telegram.world.say({ from: 444, chat, text: '@parley_bot speak' })
    await answerTo(house, 'speak')

    expect(chatTexts(house, chat)).toEqual([expect.stringContaining('speak')])
    const gone = telegram.ledger.count((entry) => entry.kind === 'message' && entry.change === 'deleted')
    expect(gone).toBe(0)
  })

  it('UB1: after a restart in the middle nothing is lost or said twice, and the group is where it was', async () => {
    const house = await family()
    const { telegram, chat } = house
    telegram.world.say({ from: 444, chat, text: '@parley_bot dinner at seven' })
    await answerTo(house, 'dinner at seven')
    await house.daemon.stop()
    telegram.world.say({ from: 444, chat, text: 'nobody asked you' })
    telegram.world.say({ from: 555, chat, text: '@parley_bot where?' })
    telegram.world.say({ from: 111, text: 'a word in private' })
    await house.restart()
    await answerTo(house, 'where?')
    await answerTo(house, 'a word in private')

    expect(toldWith(house, 'where?')).toContain('dinner at seven')
    expect(toldWith(house, 'where?')).toContain('nobody asked you')
    expect(toldWith(house, 'a word in private')).not.toContain('dinner')
    expect(chatTexts(house, chat)).toHaveLength(2)
    expect(chatTexts(house, 111)).toEqual(['heard a word in private'])
  })
})

interface Club extends Household {
  readonly forum: number
  /** Two topics and General. */
  readonly places: readonly { readonly name: string; readonly topic?: number }[]
}

async function club(): Promise<Club> {
  const house = await startHousehold({ script: attentive })
  const { world } = house.telegram
  const { id: forum } = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [444] })
  const topicOf = (name: string) => ({ name, topic: world.addTopic({ chat: forum, name }) })
  return Object.assign(house, { forum, places: [topicOf('chess'), topicOf('rowing'), { name: 'general' }] })
}

function sayIn({ telegram, forum }: Club, { topic }: Club['places'][number], text: string): void {
  telegram.world.say({ from: 444, chat: forum, text: `@parley_bot ${text}`, ...(topic ? { topic } : {}) })
}

/** Says it in each place at once, and each answer stands in its own place and knows nothing of the others. */
async function expectApart(house: Club, text: string): Promise<void> {
  for (const place of house.places) sayIn(house, place, `${text} ${place.name}`)
  await expectAnswered(house, text)
}

async function expectAnswered(house: Club, text: string): Promise<void> {
  for (const { name, topic } of house.places) {
    const answer = await answerTo(house, `${text} ${name}`)
    expect(answer).toMatchObject({ chatId: house.forum, topic: topic ?? null })
    const told = toldWith(house, `${text} ${name}`)
    for (const other of house.places) if (other.name !== name) expect(told).not.toContain(other.name)
  }
}

describe('UB2: two forum topics and General', () => {
  it('UB2: each reply in its own topic, no shared context; a silent one leaves nothing', async () => {
    const house = await club()
    await expectApart(house, 'first in')
    for (const place of house.places) sayIn(house, place, `hush ${place.name}`)
    await asked(house, 'hush')
    await expectApart(house, 'then in')

    for (const { name } of house.places) expect(toldWith(house, `then in ${name}`)).toContain(`first in ${name}`)
    expect(chatTexts(house, house.forum)).toHaveLength(6)
  })

  it('UB2: after a restart in the middle each topic goes on where it was', async () => {
    const house = await club()
    await expectApart(house, 'before in')
    await house.daemon.stop()
    for (const place of house.places) sayIn(house, place, `meanwhile in ${place.name}`)
    await house.restart()
    await expectAnswered(house, 'meanwhile in')

    for (const { name } of house.places) expect(toldWith(house, `meanwhile in ${name}`)).toContain(`before in ${name}`)
    expect(chatTexts(house, house.forum)).toHaveLength(6)
  })
})

type Whole = Household & TwoMore

async function everywhere(): Promise<Whole> {
  const more = await startTwoMore()
  return Object.assign(await startHousehold({ script: attentive, beside: more }), more)
}

/** One person's direct chat with the bot on each platform. */
function directChats(house: Whole, person: 'ada' | 'cy') {
  const { telegram, discord, slack } = house
  const [byTelegram, byDiscord, bySlack] =
    person === 'ada' ? ([111, '222', 'U333'] as const) : ([555, '555', 'U555'] as const)
  return {
    say(text: string): void {
      telegram.world.say({ from: byTelegram, text })
      discord.world.say({ from: byDiscord, text })
      slack.world.say({ from: bySlack, text })
    },
    shown: (words: string) => {
      const there = slack.world.direct(bySlack).id
      const room = discord.world.direct(byDiscord).channel.id
      return Promise.all([
        telegram.ledger.next(
          (one) =>
            one.kind === 'message' && one.botId !== null && one.chatId === byTelegram && one.text.includes(words),
        ),
        discord.ledger.next(
          (one) => one.kind === 'message' && one.byBot && one.channelId === room && one.text.includes(words),
        ),
        slack.ledger.next(
          (one) => one.kind === 'message' && one.byBot && one.channel === there && one.text.includes(words),
        ),
      ])
    },
    texts: () => ({
      telegram: chatTexts(house, byTelegram),
      discord: discord.world
        .messages(discord.world.direct(byDiscord).channel, { bot: true })
        .map(({ message }) => message.content),
      slack: slack.world.messages(slack.world.direct(bySlack), { by: 'bot' }).map(({ message }) => message.text),
    }),
  }
}

function onEach(texts: unknown): object {
  return { telegram: texts, discord: texts, slack: texts }
}

describe('UB6: direct chats on three platforms of one daemon', () => {
  it('UB6: the owner is answered on each, also over a restart, and silence is silent', async () => {
    const house = await everywhere()
    const ada = directChats(house, 'ada')
    ada.say('hello')
    await ada.shown('heard hello')
    await house.daemon.stop()
    ada.say('are you there?')
    await house.restart()
    await ada.shown('heard are you there?')
    ada.say('hush')
    await asked(house, 'hush')
    ada.say('goodbye')
    await ada.shown('goodbye')

    expect(ada.texts()).toEqual(onEach(['heard hello', 'heard are you there?', 'heard goodbye']))
  })

  it('UB6: a stranger is refused politely once on each, over a restart too, and the model is not asked', async () => {
    const house = await everywhere()
    const cy = directChats(house, 'cy')
    cy.say('let me in')
    await cy.shown('owner')
    cy.say('please')
    await house.restart()
    cy.say('I am still here')
    const ada = directChats(house, 'ada')
    ada.say('hello')
    await ada.shown('heard hello')

    expect(cy.texts()).toEqual(onEach([expect.stringContaining('owner')]))
    const requests = house.anthropic?.ledger.requests().map(lastUserText)
    expect(requests).toEqual(['hello', 'hello', 'hello'])
  })

  it('UB6: the owner is told privately on each, once, and what the stranger said first is answered once it is admitted', async () => {
    const house = await everywhere()
    const [ada, cy] = [directChats(house, 'ada'), directChats(house, 'cy')]
    ada.say('hello')
    await ada.shown('heard hello')
    cy.say('let me in')
    await cy.shown('only talk to people')
    await ada.shown('asks to talk to me')
    await house.restart()
    cy.say('please')
    ada.say('still there?')
    const cards = await ada.shown('asks to talk to me')
    await ada.shown('heard still there?')
    const [byTelegram = '', byDiscord = '', bySlack = ''] = cards.map((card) => ('text' in card ? card.text : ''))
    const code = (card: string): string => /[/!]admit ([a-z0-9]{5})/.exec(card)?.[1] ?? ''
    // Each card names the stranger of its own platform.
    expect([byTelegram, byDiscord, bySlack].map((card) => /(telegram|discord|slack):/.exec(card)?.[1])).toEqual([
      'telegram',
      'discord',
      'slack',
    ])
    house.telegram.world.say({ from: 111, text: `/admit ${code(byTelegram)}` })
    house.discord.world.say({ from: '222', text: `/admit ${code(byDiscord)}` })
    house.slack.world.say({ from: 'U333', text: `!admit ${code(bySlack)}` })
    await cy.shown('heard let me in')
    await cy.shown('please')
    await house.restart()
    cy.say('hush')
    await asked(house, 'hush')
    cy.say('thank you')
    await cy.shown('heard thank you')

    const told = Object.values(ada.texts()).map((texts) => texts.filter((text) => text.includes('asks to talk to me')))
    expect(told.map((cards) => cards.length)).toEqual([1, 1, 1])
    const refusals = Object.values(cy.texts()).map((texts) => texts.filter((text) => text.includes('only talk to')))
    expect(refusals.map((lines) => lines.length)).toEqual([1, 1, 1])
    const firsts = Object.values(cy.texts()).map((texts) => texts.filter((text) => text.includes('heard let me in')))
    expect(firsts.map((lines) => lines.length)).toEqual([1, 1, 1])
  })
})
