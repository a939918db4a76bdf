import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { ApiMessage } from '../../src/rehearsal/telegram/api-types.ts'
import { type Household, startHousehold } from './household.ts'

const heard: Script = (request) => textReply(`heard ${lastUserText(request)}`)
const ALL = { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'always' }] } as const

async function house(routing: object = {}): Promise<Household & { prompts(): readonly string[] }> {
  const made = await startHousehold({ script: heard, streaming: false, routing })
  return Object.assign(made, { prompts: () => made.anthropic?.ledger.requests().map(lastUserText) ?? [] })
}

/** Says something and resolves to what the model was asked then. */
async function asked({ telegram, prompts }: Awaited<ReturnType<typeof house>>, say: () => ApiMessage): Promise<string> {
  const after = telegram.ledger.mark()
  say()
  await telegram.ledger.nextFromBot('sent', { after })
  return prompts().at(-1) ?? ''
}

describe('what people send on Telegram', () => {
  const url = 'https://status.example/77'

  it('has the address behind a word of a post that is passed on, and below a question about it', async () => {
    const home = await house()
    const { world } = home.telegram
    const chat = world.addChat({ type: 'channel', title: 'News', botStatus: 'none' })
    const entities = [{ type: 'text_link', offset: 4, length: 4, url }]
    const post = world.say({ from: 111, chat, text: 'see here', entities })
    expect(await asked(home, () => world.forward({ from: 111, of: { chat, message: post } }))).toBe(
      `[forwarded from News] see here (${url})`,
    )
    const origin = { type: 'channel', date: 1, chat, message_id: post.message_id }
    const extra = {
      external_reply: { origin, chat, message_id: 1 },
      quote: { text: 'see here', position: 0, entities },
    }
    expect(await asked(home, () => world.say({ from: 111, text: 'what is that?', extra }))).toBe(
      `what is that?\n[forwarded from News] see here (${url})\n[attached answer to a message of News elsewhere]`,
    )
  })

  it('is never silence: a list, a gift, and what nobody knows yet', async () => {
    const home = await house()
    const { world, ledger } = home.telegram
    const say = (extra: object) =>
      asked(home, () => world.say({ from: 111, text: '', extra: { text: undefined, ...extra } }))
    const checklist = { title: 'Shopping', tasks: [{ id: 1, text: 'Milk' }] }
    expect(await say({ checklist })).toBe('[attached checklist: Shopping, 1. Milk]')
    expect(await say({ gift: { gift: { star_count: 15 }, text: 'for you' } })).toContain('with the words: for you')
    expect(() => world.say({ from: 111, text: '', extra: { hologram: {} } })).toThrow('A message has no hologram')
    const after = ledger.mark()
    const from = { id: 111, is_bot: false, first_name: 'Ada' }
    const chat = { id: 111, type: 'private', first_name: 'Ada' }
    world.raw({ update: { message: { message_id: 900, date: 1_795_000_000, from, chat, hologram: {} } } })
    await ledger.nextFromBot('sent', { after })
    expect(home.prompts().at(-1)).toBe('[attached a message that cannot be shown here: hologram]')
  })

  it('says which answer somebody replies to, also after a new conversation has begun', async () => {
    const home = await house()
    const { world, ledger } = home.telegram
    const say = (text: string, replyTo?: number) =>
      asked(home, () => world.say({ from: 111, text, ...(replyTo === undefined ? {} : { replyTo }) }))
    await say('capital of France?')
    const first = world.messages(111).at(-1)?.message.message_id
    await say('and of Spain?')
    const question = '[in reply, your own words: heard capital of France?] are you sure?'
    expect(await say('are you sure?', first)).toBe(question)
    const after = ledger.mark()
    world.say({ from: 111, text: '/new' })
    await ledger.nextFromBot('sent', { after })
    expect(await say('are you sure?', first)).toBe(question)
  })

  it('says nothing of what a command has listed, for that is of other conversations', async () => {
    const home = await house()
    const { world, ledger } = home.telegram
    const after = ledger.mark()
    world.say({ from: 111, text: '/sessions' })
    await ledger.nextFromBot('sent', { after })
    const list = world.messages(111).at(-1)?.message.message_id ?? 0
    expect(await asked(home, () => world.say({ from: 111, text: 'the second?', replyTo: list }))).toBe('the second?')
  })

  it("obeys a command behind the bot's name", async () => {
    const { telegram, prompts } = await house({ access: ALL })
    const chat = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111] })
    telegram.world.say({ from: 111, chat, text: '@parley_bot /help' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('/new: begin a fresh conversation')
    expect(prompts()).toEqual([])
  })
})

describe('an edit that is none', () => {
  it.each([true, false])('is not answered again with edits: rerun (the platform names a time: %s)', async (dated) => {
    const home = await house({ edits: 'rerun' })
    const { world, ledger } = home.telegram
    const say = (text: string) => asked(home, () => world.say({ from: 111, text }))
    const said = world.say({ from: 111, text: 'see https://status.example/77' })
    await ledger.nextFromBot('sent')
    world.touch({ chat: 111, message: said, dated, extra: { reply_markup: { inline_keyboard: [] } } })
    await say('next')
    expect(home.prompts()).toEqual(['see https://status.example/77', 'next'])
    const [newest] = await home.daemon.operator.why(String(said.message_id))
    expect(newest).toMatchObject(dated ? { event: 'edit', outcome: 'ignored: unchanged' } : { event: 'message' })
  })
})

describe("a channel's post and its copy in the discussion group", () => {
  it('are answered once, the own answer never, and who comments asks about the post', async () => {
    const home = await house({ access: ALL })
    const { world, ledger } = home.telegram
    const channel = world.addChat({ type: 'channel', title: 'News' })
    const chat = world.addChat({ type: 'supergroup', title: 'Talk', discusses: channel, members: [444] })
    world.say({ from: 111, chat: channel, text: 'the pool opens' })
    await ledger.nextFromBot('sent')
    const copies = () => world.messages(chat).filter(({ message }) => message.is_automatic_forward)
    await expect.poll(() => copies().length).toBe(2)
    // The copy of the own answer is on record, and is not what somebody means who asks about the last message.
    const { operator } = home.daemon
    await expect.poll(() => operator.why(String(copies()[1]?.message.message_id))).toHaveLength(1)
    expect(await operator.why('last')).toMatchObject([{ outcome: 'answered' }])
    expect(await operator.why(`telegram:group:${chat.id}`)).toEqual([])
    const comment = await asked(home, () =>
      world.say({ from: 444, chat, text: 'when?', replyTo: copies()[0]?.message.message_id ?? 0 }),
    )
    expect(comment).toBe('[Bob] [not directed at you] [in reply to News: the pool opens] when?')
    expect(home.prompts()).toHaveLength(2)
    const own = await home.daemon.operator.why(String(copies()[1]?.message.message_id))
    expect(own).toMatchObject([{ outcome: 'ignored: own_message' }])
  })

  it('are one message also where the copy comes first', async () => {
    const home = await house({ access: ALL })
    const { world, ledger } = home.telegram
    const channel = world.addChat({ type: 'channel', title: 'News' })
    const chat = world.addChat({ type: 'supergroup', title: 'Talk', members: [444] })
    const origin = { type: 'channel', date: 1, chat: channel, message_id: 40 }
    const extra = { is_automatic_forward: true, forward_origin: origin }
    world.say({ from: 111, chat, senderChat: channel, text: 'the pool opens', extra })
    await ledger.nextFromBot('sent')
    world.say({ from: 111, chat: channel, text: 'the pool opens', extra: { message_id: 40 } })
    await asked(home, () => world.say({ from: 444, chat, text: 'next' }))
    expect(home.prompts()).toEqual([expect.stringContaining('the pool opens'), expect.stringContaining('next')])
  })
})
