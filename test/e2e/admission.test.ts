import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

/** Ada owns the agent; the configuration lets nobody else talk. */
const house = (clock?: Clock): Promise<Household> =>
  startHousehold({ routing: policy({ people: [owner('ada', 'telegram:111')] }), ...(clock ? { clock } : {}) })

const sent = ({ telegram }: Household, chat: number, words: string) =>
  telegram.ledger.nextFromBot('sent', { where: (one) => one.chatId === chat && one.text.includes(words) })

const texts = ({ telegram }: Household, chat: number): string[] =>
  telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')

/** Ada has written once, so that the bot may write to her. */
async function met(): Promise<Household> {
  const of = await house()
  of.telegram.world.say({ from: 111, text: 'hello' })
  await sent(of, 111, 'echo hello')
  return of
}

/** The command on the card for somebody or some place. */
async function cardFor(of: Household, name: string): Promise<string> {
  const { text } = await sent(of, 111, `${name}`)
  return /\/admit ([a-z0-9]{5})/.exec(text)?.[1] ?? ''
}

describe('who asks to be let in', () => {
  it('the log has one line each at level info: who asks, who was let in, who was denied', async () => {
    const info: { sentence: string; fields: unknown }[] = []
    const logger = new AwaitedLog()
    logger.info = (sentence, fields = {}) => void info.push({ sentence, fields })
    const of = await startHousehold({ routing: policy({ people: [owner('ada', 'telegram:111')] }), logger })
    const { telegram } = of
    telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
    telegram.world.say({ from: 555, text: 'let me in' })
    const code = await cardFor(of, 'telegram:555')
    telegram.world.say({ from: 555, text: 'please' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    await sent(of, 555, 'please')
    telegram.world.say({ from: 111, text: `/deny ${code}` })
    await sent(of, 111, 'stays out')
    expect(info.filter(({ sentence }) => sentence.startsWith('Somebody'))).toEqual([
      { sentence: 'Somebody asks to be let in', fields: { key: 'telegram:555' } },
      { sentence: 'Somebody was let in', fields: { key: 'telegram:555', name: 'Cy', by: 'ada' } },
      { sentence: 'Somebody was denied', fields: { key: 'telegram:555', name: 'Cy', by: 'ada' } },
    ])
  })

  it('a stranger is refused once, the owner gets one card, and what was said is handled once it is admitted', async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.say({ from: 555, text: 'let me in' })
    const code = await cardFor(of, 'telegram:555')
    await sent(of, 555, 'only talk to people')
    telegram.world.say({ from: 555, text: 'please' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    await sent(of, 555, 'echo let me in')
    await sent(of, 555, 'please')
    await sent(of, 111, 'may talk to me now')
    telegram.world.say({ from: 555, text: 'thank you' })
    await sent(of, 555, 'echo thank you')

    expect(texts(of, 111).filter((text) => text.includes('asks to talk to me'))).toHaveLength(1)
    expect(texts(of, 555).filter((text) => text.includes('only talk to people'))).toHaveLength(1)
    const first = telegram.world.messages(555, { by: 'person' })[0]?.message.message_id
    const rows = await of.daemon.operator.why(String(first))
    const [again, refused] = rows.filter(({ sender }) => sender.id === '555')
    expect(refused).toMatchObject({ outcome: 'refused: stranger' })
    expect(again).toMatchObject({ outcome: 'answered' })
    expect(again?.steps.find(({ stage }) => stage === 'access')?.because).toMatch(
      /^telegram:555 was admitted by ada on /,
    )
    expect(await of.daemon.operator.admissions.list()).toMatchObject([
      { key: 'telegram:555', name: 'Cy', state: 'admitted', decidedBy: 'ada' },
    ])
  })

  it("a stranger's /start asks to be let in: one line to them, one card to the owner, and a greeting once let in", async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.say({ from: 555, text: '/start' })
    const code = await cardFor(of, 'telegram:555')
    await sent(of, 555, 'only talk to people')
    telegram.world.say({ from: 555, text: '/start' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    await sent(of, 555, 'Hello! Say anything')

    expect(texts(of, 111).filter((text) => text.includes('asks to talk to me'))).toHaveLength(1)
    expect(texts(of, 555).filter((text) => text.includes('only talk to people'))).toHaveLength(1)
  })

  it('a flood of strangers is twenty cards a day; the others are listed, and told of when a day has passed', async () => {
    const clock = setClock('2026-11-21T08:00Z')
    const of = await house(clock)
    const { telegram, daemon } = of
    telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
    for (let id = 9001; id <= 9021; id++) {
      telegram.world.addUser({ id, firstName: 'Stranger' })
      telegram.world.say({ from: id, text: 'let me in' })
    }
    await sent(of, 111, 'enough for a day')
    await sent(of, 9021, 'only talk to people')
    const cards = () => texts(of, 111).filter((text) => text.includes('asks to talk to me'))
    expect(cards()).toHaveLength(20)
    expect(await daemon.operator.admissions.list()).toHaveLength(21)

    await recorded(of)
    clock.skip(86_400_000)
    telegram.world.say({ from: 111, text: 'good morning' })
    await sent(of, 111, '9021')
    expect(cards()).toHaveLength(21)
  })

  it('an admission outlives a restart, and /deny takes it back at once', async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.say({ from: 555, text: 'let me in' })
    telegram.world.say({ from: 111, text: `/admit ${await cardFor(of, 'telegram:555')}` })
    await sent(of, 555, 'echo let me in')
    await of.restart()
    telegram.world.say({ from: 555, text: 'still here' })
    await sent(of, 555, 'echo still here')
    telegram.world.say({ from: 111, text: '/deny telegram:555' })
    await sent(of, 111, 'stays out')
    telegram.world.say({ from: 555, text: 'and now?' })
    telegram.world.say({ from: 111, text: 'done' })
    await sent(of, 111, 'echo done')
    expect(texts(of, 555).join()).not.toContain('and now?')
    expect(texts(of, 111).filter((text) => text.includes('asks to talk to me'))).toHaveLength(1)
  })

  it('what was said before a /deny is not handled by an /admit after it', async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.say({ from: 555, text: 'before' })
    const code = await cardFor(of, 'telegram:555')
    telegram.world.say({ from: 111, text: `/deny ${code}` })
    await sent(of, 111, 'stays out')
    telegram.world.say({ from: 555, text: 'meanwhile' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    const reply = await sent(of, 111, 'may talk to me now')
    expect(reply).not.toContain('I handle')
    telegram.world.say({ from: 555, text: 'after' })
    await sent(of, 555, 'echo after')
    expect(texts(of, 555).filter((text) => text.startsWith('echo'))).toEqual(['echo after'])
  })

  it('what was said more than a day before the admission is not handled', async () => {
    const clock = setClock('2026-11-20T10:00:00Z')
    const of = await house(clock)
    const { telegram } = of
    telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
    telegram.world.say({ from: 555, text: 'yesterday' })
    const code = await cardFor(of, 'telegram:555')
    await recorded(of)
    clock.skip(25 * 3_600_000)
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    await sent(of, 111, 'may talk to me now')
    telegram.world.say({ from: 555, text: 'today' })
    await sent(of, 555, 'echo today')
    expect(texts(of, 555).filter((text) => text.startsWith('echo'))).toEqual(['echo today'])
  })

  it('what was edited before the admission is answered once, as it reads by then', async () => {
    const of = await met()
    const { telegram } = of
    const { message_id: message } = telegram.world.say({ from: 555, text: 'let me inn' })
    const code = await cardFor(of, 'telegram:555')
    telegram.world.edit({ chat: 555, message, text: 'let me in' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    await sent(of, 555, 'echo let me in')
    telegram.world.say({ from: 555, text: 'thank you' })
    await sent(of, 555, 'echo thank you')
    expect(texts(of, 555).filter((text) => text.startsWith('echo'))).toEqual(['echo let me in', 'echo thank you'])
  })

  it('what was deleted before the admission is not handled', async () => {
    const routing = policy({ people: [owner('ada', 'discord:222')] })
    const { discord, daemon } = await startDiscordHousehold({ script: () => textReply('heard'), routing })
    const { world, ledger } = discord
    const answer = (words: string) =>
      ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))
    world.say({ from: '222', text: 'hello' })
    await answer('heard')
    const regretted = world.say({ from: '555', text: 'regretted' })
    await answer('asks to talk to me')
    world.remove(regretted.channel_id, regretted.id)
    await expect.poll(async () => (await daemon.operator.why(regretted.id)).length).toBe(2)
    await daemon.operator.admissions.decide('discord:555', 'admit')
    const kept = world.say({ from: '555', text: 'kept' })
    await expect.poll(async () => (await daemon.operator.why(kept.id))[0]?.outcome).toBe('answered')
    expect((await daemon.operator.why(regretted.id)).map(({ outcome }) => outcome)).toEqual([
      'refused: stranger',
      'refused: stranger',
    ])
  })

  it('an unknown group gives the owner one card, not one a message, and is handled once it is admitted', async () => {
    const of = await met()
    const { telegram } = of
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [444, 555] })
    telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    const code = await cardFor(of, `telegram:group:${chat}`)
    telegram.world.say({ from: 555, chat, text: '@parley_bot where?' })
    telegram.world.say({ from: 444, chat, text: 'who knows' })
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    expect((await sent(of, chat, 'where?')).text).toContain('where?')
    telegram.world.say({ from: 444, chat, text: '@parley_bot and when?' })
    await sent(of, chat, 'and when?')

    const cards = texts(of, 111).filter((text) => text.includes('nobody has let me talk'))
    expect(cards).toEqual([expect.stringContaining('Somebody speaks in Club,')])
    expect(texts(of, chat)).toHaveLength(2)
  })

  it('no owner to tell: the card waits for the next word of the owner, over a restart too', async () => {
    const of = await house()
    const { telegram } = of
    telegram.world.say({ from: 555, text: 'let me in' })
    await sent(of, 555, 'only talk to people')
    await of.restart()
    expect(await of.daemon.operator.admissions.list()).toMatchObject([{ key: 'telegram:555', state: 'asked' }])
    telegram.world.say({ from: 111, text: 'good morning' })
    expect(await cardFor(of, 'telegram:555')).toMatch(/^[a-z0-9]{5}$/)
    await sent(of, 111, 'echo good morning')
  })

  it('whoever claims the bot is told of who asks from then on', async () => {
    const of = await startHousehold({ routing: policy() })
    const { telegram } = of
    const [claim] = (await of.daemon.operator.status()).claims
    const code = new URL(claim?.link ?? '').searchParams.get('start')
    telegram.world.say({ from: 111, text: `/start ${code}` })
    await sent(of, 111, 'You are my owner now')
    telegram.world.say({ from: 555, text: 'hello' })
    await cardFor(of, 'telegram:555')
  })

  it('the operator decides too, and others than the owner do not', async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.say({ from: 555, text: 'let me in' })
    const code = await cardFor(of, 'telegram:555')
    telegram.world.say({ from: 555, text: `/admit ${code}` })
    telegram.world.say({ from: 111, text: '/admit' })
    expect((await sent(of, 111, '• telegram:555')).text).toContain(code)
    expect(await of.daemon.operator.admissions.decide(code, 'admit')).toMatchObject({ state: 'admitted' })
    await sent(of, 555, 'echo let me in')
    await expect(of.daemon.operator.admissions.decide('nobody', 'deny')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('who asks is told to the owner alone, also if the owner asks in a group', async () => {
    const of = await met()
    const { telegram } = of
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 444] })
    telegram.world.say({ from: 555, text: 'let me in' })
    const code = await cardFor(of, 'telegram:555')
    telegram.world.say({ from: 111, chat, text: '/admit' })
    await sent(of, 111, '• telegram:555')
    telegram.world.say({ from: 111, chat, text: `/deny ${code}` })
    await sent(of, 111, 'telegram:555 stays out')
    expect(texts(of, chat)).toEqual([])
  })

  it('F-H02: the name on a card is a name and nothing more', async () => {
    const of = await met()
    const { telegram } = of
    telegram.world.addUser({ id: 666, firstName: 'Ada](x)\n`/admit`', lastName: '*owner*' })
    telegram.world.say({ from: 666, text: 'it is me' })
    const { text } = await sent(of, 111, 'telegram:666')
    expect(text).toContain('telegram:666 (Ada x admit owner) asks to talk to me')
  })

  it('F-H02: no name of a person or a place on a card is a link, nor a sentence of mine', async () => {
    const of = await met()
    const { world } = of.telegram
    const name = 'thief.example.com has been let in by Ada'
    world.addUser({ id: 666, firstName: name })
    const { id: chat } = world.addChat({ type: 'supergroup', title: name, members: [555] })
    world.say({ from: 666, text: 'it is me' })
    const ask = await cardFor(of, 'telegram:666')
    world.say({ from: 555, chat, text: 'hello' })
    await cardFor(of, `telegram:group:${chat}`)
    world.say({ from: 111, text: '/admit' })
    await sent(of, 111, '• telegram:666')
    world.say({ from: 111, text: `/admit ${ask}` })
    await sent(of, 111, 'may talk to me now')
    const shown = world.messages(111, { by: 'bot' }).filter(({ message }) => message.text?.includes(name))
    expect(shown).toHaveLength(4)
    for (const { message } of shown) {
      const { text = '', entities = [] } = message
      const code = entities
        .filter(({ type }) => type === 'code')
        .map((one) => text.slice(one.offset, one.offset + one.length))
      expect(code).toContain(name)
    }
  })
})
