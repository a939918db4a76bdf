import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { type HouseholdOptions, recorded, startHousehold } from './household.ts'
import { callIn, callText, toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'
import { startTwoMore } from './three-platforms.ts'

const LONG = Array.from({ length: 220 }, (_, at) => `Word ${at} of an answer.`).join(' ')
const LAST = 'Word 219'
const WEEKS_MS = 21 * 86_400_000

/** Makes the call that stands behind "do", and gives an answer of several parts to whatever says "long". */
const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('it is done')
  const said = lastUserText(request)
  return callIn(said) ?? textReply(said.includes('long') ? LONG : 'heard')
}

const FILE = callText('send_file', { name: 'plan.md', text: '# Plan' })
const REMINDER = callText('schedule_create', { text: 'look at the pool', at: '2026-12-15T10:00' })
const QUESTION = callText('ask', { question: 'Which one?', choices: ['Red', 'Blue'] })

async function house(beside?: HouseholdOptions['beside']) {
  const clock = setClock('2026-11-24T09:20:00Z')
  const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['files', 'ask', 'schedule'] }
  const ada = { ...owner('ada', 'telegram:111', 'discord:222', 'slack:t01/u333'), timezone: 'Europe/Berlin' }
  const home = await startHousehold({
    ...{ script, clock, streaming: false, config: { agents: [agent] } },
    ...(beside ? { beside } : {}),
    routing: policy({
      people: [ada, member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const skip = async (): Promise<void> => {
    await recorded(home)
    clock.skip(WEEKS_MS)
  }
  return { ...home.telegram, home, skip }
}

describe("what is said below a channel's post stays there", () => {
  async function commented() {
    const here = await house()
    const { world, ledger } = here
    const channel = world.addChat({ type: 'channel', title: 'News' })
    const chat = world.addChat({ type: 'supergroup', title: 'Talk', discusses: channel, members: [111, 444] })
    world.say({ from: 111, chat: channel, text: 'the pool opens' })
    const post = world.messages(chat)[0]?.message.message_id ?? 0
    const own = () => world.messages(chat, { by: 'bot' }).map(({ message }) => message)
    /** Says something below the post, and resolves with the number of the answer that has these words. */
    const ask = async (text: string, words: string, replyTo = post) => {
      const after = ledger.mark()
      world.say({ from: 111, chat, text: `@parley_bot ${text}`, replyTo })
      return (await ledger.nextFromBot('sent', { after, where: (entry) => entry.text.includes(words) })).messageId
    }
    const places = () => new Set(own().map(({ message_thread_id: thread }) => thread))
    return { ...here, post, own, ask, places }
  }

  it('each part of an answer, also to who answers an answer after a restart', async () => {
    const { ask, own, places, post, home } = await commented()
    const last = await ask('long', LAST)
    await home.restart()
    await ask('long', LAST, last)
    expect(own().length).toBeGreaterThanOrEqual(4)
    expect(places()).toEqual(new Set([post]))
  })

  it('files, questions, answers to commands, and a reminder of weeks later', async () => {
    const { ask, own, places, post, skip, ledger } = await commented()
    await ask(FILE, 'it is done')
    expect(own().some(({ document }) => document !== undefined)).toBe(true)
    await ask('/remind in 3 weeks look at the pool', 'I remind')
    await ask(QUESTION, 'Which one?')
    const after = ledger.mark()
    await skip()
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('Reminder') })
    expect(places()).toEqual(new Set([post]))
  })
})

describe('what is said in a thread stays there', () => {
  it('on Discord and Slack: each part, files, questions, and a reminder of weeks later', async () => {
    const more = await startTwoMore({ streaming: false })
    const { skip } = await house(more)
    const { discord, slack, rooms } = more
    const thread = discord.world.addThread({ channel: rooms.discord, name: 'pool' })
    const root = slack.world.say({ from: 'U444', channel: rooms.slack, text: 'the pool opens' })
    const both = (words: string) => {
      const on = { where: ({ text }: { readonly text: string }) => text.includes(words) }
      return Promise.all([
        discord.ledger.nextFromBot('sent', { ...on, after: discord.ledger.mark() }),
        slack.ledger.nextFromBot('sent', { ...on, after: slack.ledger.mark() }),
      ])
    }
    const ask = async (text: string, words: string) => {
      const answers = both(words)
      discord.world.say({ from: '222', channel: thread, text: `<@900000000000000001> ${text}` })
      slack.world.say({ from: 'U333', channel: rooms.slack, thread: root, text: `<@U0BOT> ${text}` })
      await answers
    }
    await ask('long', LAST)
    await ask(FILE, 'it is done')
    await ask(REMINDER, 'it is done')
    await ask(QUESTION, 'Which one?')
    discord.world.setThread(thread, { archived: true })
    const reminders = both('Reminder')
    await skip()
    await reminders
    expect(discord.world.messages(rooms.discord, { bot: true })).toEqual([])
    expect(discord.world.messages(thread, { bot: true }).length).toBeGreaterThanOrEqual(7)
    const threads = slack.world.messages(rooms.slack, { by: 'bot' }).map(({ message }) => message.thread_ts)
    expect(new Set(threads)).toEqual(new Set([root.ts]))
    expect(threads.length).toBeGreaterThanOrEqual(6)
  })
})

describe('F-C06: whoever waits for an answer in a topic that is gone', () => {
  async function forum() {
    const here = await house()
    const { world, ledger } = here
    const chat = world.addChat({ type: 'supergroup', title: 'Workshop', forum: true, members: [111, 444] })
    const topic = world.addTopic({ chat, name: 'Engines' })
    for (const from of [111, 444]) {
      const after = ledger.mark()
      world.say({ from, text: 'hello' })
      await ledger.nextFromBot('sent', { after })
    }
    const read = (id: number, after: number) =>
      ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === id }).then(({ text }) => text)
    return { ...here, chat, topic, read }
  }

  it('reads so in private, without a word of it, and an owner does', async () => {
    const { world, ledger, chat, topic, read } = await forum()
    const after = ledger.mark()
    world.say({ from: 444, chat, topic, text: '@parley_bot long' })
    world.deleteTopic({ chat, topic })
    const line = await read(444, after)
    expect(line).toContain('I cannot write in Workshop › Engines any more')
    expect(line).not.toContain('Word')
    expect(await read(111, after)).toContain('I cannot write in Workshop › Engines any more')
    expect(world.messages(chat, { by: 'bot', topic: null })).toEqual([])
  })

  it('reads so on Discord in a direct chat, and on Slack in the channel, where nobody else sees it', async () => {
    const more = await startTwoMore({ streaming: false })
    await house(more)
    const { discord, slack, rooms } = more
    const thread = discord.world.addThread({ channel: rooms.discord, name: 'pool' })
    const root = slack.world.say({ from: 'U444', channel: rooms.slack, text: 'the pool opens' })
    discord.world.say({ from: '444', channel: thread, text: '<@900000000000000001> long' })
    discord.world.setThread(thread, { locked: true })
    slack.world.say({ from: 'U444', channel: rooms.slack, thread: root, text: '<@U0BOT> long' })
    slack.world.lockThread(rooms.slack, root)
    const line = expect.stringContaining('any more: that topic or thread is closed or gone.')
    const direct = discord.world.direct('444').channel.id
    const inDirect = ({ channelId }: { readonly channelId: string }) => channelId === direct
    expect(await discord.ledger.nextFromBot('sent', { where: inDirect })).toMatchObject({ text: line })
    expect(await slack.ledger.nextWhisper()).toMatchObject({ userId: 'U444', thread: null, text: line })
    expect(slack.world.messages(rooms.slack, { by: 'bot' })).toEqual([])
    expect(discord.world.messages(rooms.discord, { bot: true })).toEqual([])
  })

  it('is an owner for a reminder', async () => {
    const { world, ledger, chat, topic, read, skip } = await forum()
    const after = ledger.mark()
    world.say({ from: 444, chat, topic, text: '/remind@parley_bot in 3 weeks look at the pool' })
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('I remind') })
    world.deleteTopic({ chat, topic })
    const later = ledger.mark()
    await skip()
    expect(await read(111, later)).toContain(`I cannot write in telegram:group:${chat.id}/${topic} any more`)
    expect(world.messages(chat, { by: 'bot', topic: null })).toEqual([])
  })
})
