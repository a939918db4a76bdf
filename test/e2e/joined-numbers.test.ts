import { describe, expect, it } from 'vitest'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { forgettingHouse, heard } from './forgetting-house.ts'
import { type HouseholdOptions, recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { isCheckpoint } from './remembering.ts'

const [FIRST, SECOND] = [7_000_001, 7_000_002]

/** A household with a second bot on Telegram, whose direct chats have the ids and the numbers of the first one's. */
async function twoBots(options: HouseholdOptions = {}) {
  const bots = [FIRST, SECOND].map((id) => ({ token: `${id}:rehearsal`, canReadAllGroupMessages: true }))
  const home = await startHousehold({ streaming: false, ...options, telegram: { bots } })
  const { telegram } = home
  const accountOf = (bot: number) =>
    telegramAccountSchema.parse({ token: `${bot}:rehearsal`, apiRoot: telegram.apiRoot, streaming: false })
  const accounts = { default: accountOf(FIRST), second: accountOf(SECOND) }
  const mark = telegram.ledger.mark()
  await home.restart({ channels: { telegram: { accounts } } })
  await telegram.ledger.next((entry) => entry.kind === 'poll' && entry.botId === SECOND, { after: mark })
  /** Offers a message to one bot, with a number that the chat with the other may have given too. */
  const offer = (bot: number, from: number, message_id: number, text: string): void => {
    const person = { id: from, is_bot: false, first_name: 'Somebody' }
    const chat = { id: from, type: 'private', first_name: 'Somebody' }
    const date = Math.floor(Date.now() / 1_000)
    telegram.world.raw({ bot, update: { message: { message_id, from: person, chat, date, text } } })
  }
  const saidBy = (bot: number, words: string) =>
    telegram.ledger.nextFromBot('sent', { after: 0, where: (one) => one.botId === bot && one.text.includes(words) })
  return { home, telegram, offer, saidBy }
}

describe('two bots of one platform, whose chats have the same ids and whose messages the same numbers', () => {
  it('/why explains the message that this bot was sent', async () => {
    const { home, telegram, offer, saidBy } = await twoBots()
    telegram.world.say({ from: 111, text: 'hello', bot: SECOND })
    await saidBy(SECOND, 'hello')
    const { message_id: id } = telegram.world.say({ from: 111, text: 'to the first' })
    await saidBy(FIRST, 'to the first')
    offer(SECOND, 111, id, 'to the second')
    await saidBy(SECOND, 'to the second')
    await recorded(home)
    for (const asked of [{ text: '/why trace', replyTo: id }, { text: `/why ${id} trace` }]) {
      const after = telegram.ledger.mark()
      telegram.world.say({ from: 111, ...asked })
      const { text } = await telegram.ledger.nextFromBot('sent', { after })
      expect(text).toContain('telegram:direct:111')
      expect(text).not.toContain('telegram@second')
    }
  })

  it('a stranger is told by each of them that it does not talk to them', async () => {
    const { telegram, saidBy } = await twoBots()
    telegram.world.say({ from: 555, text: 'let me in' })
    await saidBy(FIRST, 'I only talk to people')
    telegram.world.say({ from: 555, text: 'let me in', bot: SECOND })
    await saidBy(SECOND, 'I only talk to people')
  })
})

function numbered(): Script {
  let no = 0
  return (request) => textReply(`answer ${++no} to ${lastUserText(request).split('\n').at(-1)}`)
}

async function shared() {
  const home = await startHousehold({ script: numbered(), streaming: false, routing: { scope: 'global' } })
  const { world, ledger } = home.telegram
  const say = async (from: number, text: string) => {
    const after = ledger.mark()
    world.say({ from, text })
    const answer = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })
    await recorded(home)
    return answer
  }
  const prompt = (): string => JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)
  const standing = (chat: number): readonly string[] =>
    world.messages(chat).flatMap(({ message, botId }) => (botId === null ? [] : [message.text ?? '']))
  return { home, ledger, say, prompt, standing }
}

const UNDONE = 'Taken back: the last message and my answer to it. I know neither any more.'

describe('/undo and /retry in a session that joins chats', () => {
  it('C23: take back what was said last in the chat in which they are asked for, and nothing elsewhere', async () => {
    const { say, prompt, standing, ledger } = await shared()
    await say(111, 'the code is 4711')
    const mine = await say(111, 'my secret is blue')
    const theirs = await say(444, 'dinner is at seven')
    expect((await say(111, '/undo')).text).toBe(UNDONE)
    await ledger.nextFromBot('deleted', { after: 0, where: ({ messageId }) => messageId === mine.messageId })
    expect(standing(444)).toEqual([theirs.text])
    await say(111, 'and now?')
    expect(prompt()).not.toContain('blue')
    expect(prompt()).toContain('dinner is at seven')
    expect((await say(444, '/undo')).text).toBe(UNDONE)
    await say(444, 'and here?')
    expect(prompt()).not.toContain('dinner')
    expect(prompt()).toContain('the code is 4711')
  })

  it('C23: find nothing where nobody has said anything, whatever was said elsewhere', async () => {
    const { say, prompt } = await shared()
    await say(444, 'dinner is at seven')
    expect((await say(111, '/undo')).text).toBe('There is nothing to take back here.')
    expect((await say(111, '/retry')).text).toBe('There is nothing to answer again here.')
    await say(444, 'and here?')
    expect(prompt()).toContain('dinner is at seven')
  })

  it('C23: /retry answers there once more', async () => {
    const { say, ledger } = await shared()
    await say(111, 'who cooks?')
    await say(444, 'dinner is at seven')
    const after = ledger.mark()
    await say(111, '/retry')
    const again = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('answer 3') })
    expect([again.chatId, again.text]).toEqual([111, 'answer 3 to [Ada] who cooks?'])
  })
})

describe('/forget in a session that joins chats, whose messages have the same numbers', () => {
  it('S41: takes the message of its own chat, and not what its author has said under that number in another', async () => {
    const { say, exchange, addGroup, prompt, home, world } = await forgettingHouse({ routing: { dimensions: [] } })
    const club = addGroup('Club')
    await say('hello')
    world.say({ from: 444, chat: club, text: 'hum' })
    const { id } = await exchange('the bin goes out')
    const { id: there } = await exchange('the cat stays in', { chat: club })
    expect(there, 'the numbers of the two messages').toBe(id)
    expect(await say('/forget', { chat: club, replyTo: there })).toMatch(/^Forgotten/)
    await recorded(home)
    await say('and now?')
    expect(prompt()).toContain('the bin goes out')
    expect(prompt()).not.toContain('the cat stays in')
  })

  it('S41: waits for no turn that answers another chat, and leaves the message of that', async () => {
    const gate = createGate()
    const script: Script = (request, no) => {
      const slowly = !isCheckpoint(request) && lastUserText(request).includes('slowly')
      return slowly ? { ...textReply('done'), holds: [{ beforeDelta: 0, gate }] } : heard(request, no)
    }
    const { exchange, say, world, ledger, rows, home } = await forgettingHouse({ script, routing: { scope: 'global' } })
    const { id } = await exchange('the bin goes out')
    const { message_id: other } = world.say({ from: 444, text: 'slowly please' })
    expect(other, 'the numbers of the two messages').toBe(id)
    await gate.reached
    await say('/forget', { replyTo: id })
    const said = () => rows("SELECT data FROM events WHERE type = 'user_message'")
    await expect.poll(said, { timeout: 30_000 }).not.toContain('the bin goes out')
    const after = ledger.mark()
    gate.release()
    await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 444 })
    await expect.poll(() => rows('SELECT state FROM forgettings'), { timeout: 30_000 }).not.toContain('running')
    await recorded(home)
    expect(rows('SELECT dispatch FROM inbox')).toContain('slowly please')
    expect(said()).toContain('slowly please')
  })
})

it('S7: an emoji on a message of another thread of the chat is put there', async () => {
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    const [, to] = /put on (\w+)$/.exec(lastUserText(request)) ?? []
    return to === undefined
      ? textReply('fine')
      : { blocks: [{ type: 'tool_use', name: 'react', input: { emoji: '🥒', to } }] }
  }
  const { discord, channel, thread } = await startDiscordHousehold({
    script,
    agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['react'] }],
    routing: policy({
      people: [owner('ada', 'discord:222')],
      access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      channelDimensions: { discord: ['chat'] },
    }),
  })
  const { world, ledger } = discord
  const say = async (text: string, where: typeof channel, words: string) => {
    const after = ledger.mark()
    const { id } = world.say({ from: '222', channel: where, text: `<@${world.bot.id}> ${text}` })
    await ledger.nextFromBot('sent', { after, where: (one) => one.text.includes(words) })
    return id
  }
  const milk = await say('buy milk', channel, 'fine')
  await say('put on milk', thread, 'stands there')
  const stored = world.messages(channel).find(({ message }) => message.id === milk)
  expect([...(stored?.reactions ?? [])]).toEqual(['🥒'])
})
