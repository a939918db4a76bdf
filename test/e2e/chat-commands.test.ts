import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { CallEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { removeTempFolders, tempFolder, withDatabase } from '../store/temp-database.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore } from './three-platforms.ts'

removeTempFolders()

interface Family extends Household {
  readonly chat: number
  /** Says it in the group and resolves with the next thing the bot says anywhere. */
  tell(from: number, text: string): Promise<string>
}

async function family(options: Parameters<typeof startHousehold>[0] = {}): Promise<Family> {
  const house = await startHousehold({ script: () => textReply('answered'), ...options })
  const { telegram } = house
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  const tell = async (from: number, text: string): Promise<string> => {
    const mark = telegram.ledger.mark()
    telegram.world.say({ from, chat, text })
    return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
  }
  return Object.assign(house, { chat, tell })
}

describe('a command that is mistyped or not for its sender', () => {
  const routing = policy({
    people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
    access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
  })

  it('T28: is answered with the near one, and any other word is a message', async () => {
    const { telegram, anthropic, chat, tell } = await family({ routing })
    const alone = async (from: number, text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from, text })
      return (await telegram.ledger.nextFromBot('sent', { after })).text
    }
    expect(await alone(444, '/remnd in 2h tea')).toBe('There is no /remnd here; did you mean /remind?')
    expect(await tell(444, '/stpo@parley_bot')).toBe('There is no /stpo here; did you mean /stop?')
    expect(await alone(111, '/statsu')).toBe('There is no /statsu here; did you mean /status?')
    expect(anthropic?.ledger.requests()).toHaveLength(0)
    // A member is pointed to no command of the owner's, and what resembles nothing is for the agent.
    expect(await alone(444, '/aprovals')).toBe('answered')
    expect(await alone(444, '/weather tomorrow')).toBe('answered')
    const before = telegram.world.messages(chat, { by: 'bot' }).length
    telegram.world.say({ from: 555, chat, text: '/remnd in 2h tea' })
    telegram.world.say({ from: 555, chat, text: '/remnd@other_bot in 2h tea' })
    telegram.world.say({ from: 444, chat, text: '/mute' })
    const asked = anthropic?.ledger.requests().length ?? 0
    expect(await tell(444, '@parley_bot are you there?')).toBe('answered')
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(before + 1)
    expect(anthropic?.ledger.requests()).toHaveLength(asked + 1)
  })

  it('T28: in a group it is answered where it names the bot, by its mention too, and by nobody where it does not', async () => {
    const beside = await startTwoMore({ streaming: false })
    const { telegram, anthropic, chat, tell } = await family({
      ...{ beside, streaming: false },
      routing: { ...routing, people: [owner('ada', 'telegram:111', 'discord:222', 'slack:U333')] },
    })
    const { discord, slack, rooms } = beside
    const typed = async (person: 'ada' | 'bob', words: string): Promise<readonly string[]> => {
      const after = [discord.ledger.mark(), slack.ledger.mark()] as const
      const [discordId, slackId] = person === 'ada' ? ['222', 'U333'] : ['444', 'U444']
      discord.world.say({ from: discordId, channel: rooms.discord, text: `<@${discord.world.bot.id}>${words}` })
      slack.world.say({ from: slackId, channel: rooms.slack, text: `<@U0BOT>${words}` })
      const said = [
        discord.ledger.nextFromBot('sent', { after: after[0] }),
        slack.ledger.nextWhisper({ after: after[1] }),
      ]
      return (await Promise.all(said)).map(({ text }) => text.replaceAll('`', ''))
    }
    expect(await tell(111, '@parley_bot /staus')).toBe('There is no /staus here; did you mean /status?')
    expect(await tell(111, '/staus@parley_bot')).toBe('There is no /staus here; did you mean /status?')
    const answers = ['There is no /staus here; did you mean /status?', 'There is no !staus here; did you mean !status?']
    expect(await typed('ada', ' !staus')).toEqual(answers)
    expect(await typed('ada', ': /staus')).toEqual(answers)
    const before = telegram.world.messages(chat, { by: 'bot' }).length
    telegram.world.say({ from: 444, chat, text: '/stpo' })
    discord.world.say({ from: '444', channel: rooms.discord, text: '!stpo' })
    slack.world.say({ from: 'U444', channel: rooms.slack, text: '!stpo' })
    expect((await typed('bob', ' !stpo')).map((text) => text.replaceAll('!', '/'))).toEqual(
      Array(2).fill('There is no /stpo here; did you mean /stop?'),
    )
    expect(await tell(444, '/stpo@parley_bot')).toContain('did you mean /stop?')
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(before + 1)
    expect(anthropic?.ledger.requests()).toHaveLength(0)
  })

  it('T27, T28: on Discord and Slack too, with the mark that commands have there', async () => {
    const beside = await startTwoMore({ streaming: false })
    await startHousehold({
      ...{ script: () => textReply('answered'), beside, streaming: false },
      routing: policy({
        people: [owner('ada', 'discord:222', 'slack:U333'), member('bob', 'discord:444', 'slack:U444')],
        access: { direct: 'allowlist', groups: [] },
      }),
    })
    const { discord, slack } = beside
    const typed = async (person: 'ada' | 'bob', text: string): Promise<readonly string[]> => {
      const after = [discord.ledger.mark(), slack.ledger.mark()] as const
      discord.world.say({ from: person === 'ada' ? '222' : '444', text })
      slack.world.say({ from: person === 'ada' ? 'U333' : 'U444', text })
      const said = [
        discord.ledger.nextFromBot('sent', { after: after[0] }),
        slack.ledger.nextFromBot('sent', { after: after[1] }),
      ]
      return (await Promise.all(said)).map((entry) => entry.text.replaceAll('`', ''))
    }
    expect(await typed('bob', '!remnd in 2h tea')).toEqual([
      'There is no /remnd here; did you mean /remind?',
      'There is no !remnd here; did you mean !remind?',
    ])
    expect(await typed('bob', '!status')).toEqual(['/status is for my owner alone.', '!status is for my owner alone.'])
    expect(await typed('bob', '!weather tomorrow')).toEqual(['answered', 'answered'])
    const helps = await typed('ada', '!help')
    expect(helps.map((text) => /[/!]status: .*/.exec(text)?.[0])).toEqual([
      '/status: how I am doing',
      '!status: how I am doing',
    ])
  })

  it("T27: an owner's command of a member gets one line in a direct chat, and does nothing", async () => {
    const { telegram, anthropic, daemon } = await family({ routing })
    for (const text of ['/admit', '/status', '/send off']) {
      const after = telegram.ledger.mark()
      telegram.world.say({ from: 444, text })
      const { text: line } = await telegram.ledger.nextFromBot('sent', { after })
      expect(line).toBe(`${text.split(' ')[0]} is for my owner alone.`)
    }
    expect(anthropic?.ledger.requests()).toHaveLength(0)
    expect((await daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(0)
  })
})

describe('/help', () => {
  it('is grouped, fits the screen of a phone, and says more of one command', async () => {
    const routing = policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [] },
    })
    const { telegram } = await family({ routing })
    const ask = async (from: number, text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from, text })
      return (await telegram.ledger.nextFromBot('sent', { after })).text
    }
    const [members, owners] = [await ask(444, '/help'), await ask(111, '/help')]
    const lines = members.split('\n')
    expect(lines.length).toBeLessThanOrEqual(25)
    for (const line of [...lines, ...owners.split('\n')]) expect([line, line.length <= 40]).toEqual([line, true])
    const titles = ['Talk', 'Reminders', 'Memory and privacy']
    expect(lines.filter((line) => line !== '' && !line.includes('/'))).toEqual(titles)
    expect(owners.split('\n').filter((line) => line !== '' && !line.includes('/'))).toEqual([...titles, 'Owners'])
    // Nothing but the greeting is missing, and nothing stands below "More" that this page knows.
    expect(owners).not.toContain('More')
    expect(await ask(444, '/help /remind')).toBe(
      '/remind: Remind you here; list shows what is due, cancel <id> ends it.\nBehind it: when and of what, or list, or cancel and an id.',
    )
    expect(await ask(444, '/help status')).toContain('There is no such command')
  })
})

describe('/mute', () => {
  it('S25: the agent says nothing there, keeps what is said, and speaks again after /mute off', async () => {
    const { telegram, anthropic, chat, tell, daemon } = await family()
    expect(await tell(111, '/mute 2h')).toContain('I say nothing here until')
    const unheard = telegram.world.say({ from: 444, chat, text: '@parley_bot dinner at seven' })
    expect(await tell(111, '/mute off')).toBe('I am back.')
    expect(anthropic?.ledger.requests()).toHaveLength(0)
    expect(await daemon.operator.why(String(unheard.message_id))).toMatchObject([
      { decision: 'context', reason: 'muted', outcome: 'context' },
    ])
    expect(await tell(444, '@parley_bot when?')).toBe('answered')
    expect(JSON.stringify(anthropic?.ledger.requests()[0]?.messages)).toContain('dinner at seven')
  })

  it('S25: it ends when its writer says so, in words and in their zone', async () => {
    const { tell } = await family()
    expect(await tell(111, '/mute until tomorrow at 9')).toMatch(
      /^I say nothing here until \w+ \d+ \w+ \d+ at 09:00 \(.+\)/,
    )
    expect(await tell(111, '/mute für 2 Stunden')).toContain('I say nothing here until')
    expect(await tell(111, '/mute for 2 years')).toContain('more than a year')
    expect(await tell(111, '/mute until yesterday')).toContain('is over')
    expect(await tell(111, '/mute off')).toBe('I am back.')
  })

  it('S25: it lasts over a restart, and other conversations are none of its business', async () => {
    const house = await family()
    expect(await house.tell(111, '/mute')).toContain('until `/mute off`'.replaceAll('`', ''))
    await house.restart()
    const mark = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 444, chat: house.chat, text: '@parley_bot hello?' })
    house.telegram.world.say({ from: 111, text: 'and here?' })
    const said = await house.telegram.ledger.nextFromBot('sent', { after: mark })
    expect(said).toMatchObject({ chatId: 111, text: 'answered' })
    expect(await house.tell(111, '/mute off')).toBe('I am back.')
  })

  it('S25: what a running turn would have said is held back, and only the owner may mute', async () => {
    const gate = createGate()
    const house = await family({ script: () => textReply('too late', { holds: [{ beforeDelta: 0, gate }] }) })
    house.telegram.world.say({ from: 444, chat: house.chat, text: '@parley_bot think long' })
    await gate.reached
    house.telegram.world.say({ from: 444, chat: house.chat, text: '/mute 5m' })
    await house.tell(111, '/mute 1h')
    const ended = house.anthropic?.ledger.nextEnded()
    gate.release()
    await ended
    expect(await house.tell(111, '/mute off')).toBe('I am back.')
    expect(house.telegram.world.messages(house.chat, { by: 'bot' })).toHaveLength(2)
  })

  it('says calmly what it cannot read', async () => {
    const { tell } = await family()
    expect(await tell(111, '/mute soon')).toContain('Give me a time')
    expect(await tell(111, '/mute off')).toBe('I was not muted here.')
  })
})

describe('/usage', () => {
  it('C22: counts the turns and tokens of the conversation, and for the owner those of the day', async () => {
    const { tell } = await family()
    expect(await tell(444, '/usage')).toBe('Here: nothing yet')
    await tell(444, '@parley_bot hello')
    expect(await tell(444, '/usage')).toMatch(/^Here: 1 turn, [\d,]+ tokens in, \d+ out$/)
    expect(await tell(111, '/usage')).toMatch(/^Here: 1 turn.*\nToday, everywhere: 1 turn, [\d,]+ tokens in/)
  })
})

describe('the cache of a provider', () => {
  const usage = { input_tokens: 20, output_tokens: 5, cache_read_input_tokens: 900, cache_creation_input_tokens: 100 }
  const CACHED = { input: 20, output: 5, cacheRead: 900, cacheWrite: 100 }

  it('R15, C22: what was read from it is told apart by /usage, and stands with the answer and its model', async () => {
    const path = join(tempFolder(), 'parley.db')
    const house = await family({ script: () => textReply('answered', { usage }), config: { store: { path } } })
    await house.tell(444, '@parley_bot hello')
    await house.tell(444, '@parley_bot and again')
    const spent = '2 turns, 2,040 tokens in (1,800 from the cache, 200 into the cache), 10 out'
    expect(await house.tell(444, '/usage')).toBe(`Here: ${spent}`)
    await house.restart()
    expect(await house.tell(111, '/usage')).toBe(`Here: ${spent}\nToday, everywhere: ${spent}`)
    const mark = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 111, text: '/status' })
    expect((await house.telegram.ledger.nextFromBot('sent', { after: mark })).text).toContain(`today: ${spent}`)
    expect((await house.daemon.operator.status()).spentToday).toEqual({
      turns: 2,
      usage: { input: 40, output: 10, cacheRead: 1_800, cacheWrite: 200 },
    })
    await house.daemon.stop()
    const answers = withDatabase(path, (database) =>
      database.prepare("SELECT data FROM events WHERE type = 'assistant_message' ORDER BY seq").pluck().all(),
    )
    const answer = { model: expect.stringMatching(/^anthropic\//), usage: CACHED }
    expect(answers.map((data) => JSON.parse(String(data)))).toMatchObject([answer, answer])
  })
})

describe('control commands', () => {
  it('are in the menu of whoever becomes the owner, at once', async () => {
    const { telegram, daemon } = await startHousehold({ routing: policy() })
    const link = (await daemon.operator.status()).claims[0]?.link ?? ''
    telegram.world.say({ from: 111, text: `/start ${new URL(link).searchParams.get('start')}` })
    const registered = await telegram.ledger.next(
      (entry): entry is CallEntry =>
        entry.kind === 'call' &&
        entry.method === 'setMyCommands' &&
        JSON.stringify(entry.params).includes('"chat_id":111'),
    )
    expect(JSON.stringify(registered.params)).toContain('status')
  })

  it('T27: what is for one person alone goes to their direct chat; where there is none the group is told what to do, and nothing of it', async () => {
    const { telegram, chat, tell } = await family()
    const user = 111
    const first =
      'That is for you alone, and I cannot write to you yet: say something to me in a direct chat, then ask again.'
    expect(await tell(111, '/status')).toBe(first)
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(1)
    expect(await tell(111, '/whoami')).toContain('your role is owner')
    telegram.world.say({ from: user, text: '/whoami' })
    await telegram.ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === user })
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: user, chat, text: '/status' })
    expect(await telegram.ledger.nextFromBot('sent', { after: mark })).toMatchObject({ chatId: user })
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(2)
  })

  it('/whoami says the ids of person, channel, account and chat in the form a rule takes', async () => {
    const { chat, tell } = await family()
    expect(await tell(111, '/whoami')).toMatch(/^You are telegram:111, known to me as ada; your role is owner\.\n/)
    expect(await tell(111, '/whoami')).toContain(`match: { channel: telegram, account: default, chat: "${chat}" }`)
  })

  it('are registered once, and an owner sees their own in the direct chat', async () => {
    const house = await family()
    await house.tell(111, '/whoami')
    await house.restart()
    await house.tell(111, '/whoami')
    const scopes = house.telegram.ledger.calls('setMyCommands').map(({ params }) => params.scope)
    expect(scopes.filter((scope) => JSON.stringify(scope).includes('default'))).toHaveLength(1)
  })

  it("T27: an owner's command says nothing to others, and one for another bot is nobody's", async () => {
    const { telegram, anthropic, chat, tell } = await family()
    telegram.world.say({ from: 444, chat, text: '/status' })
    telegram.world.say({ from: 111, chat, text: '/status@other_bot' })
    expect(await tell(111, '/whoami')).toContain('your role is owner')
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(1)
    expect(anthropic?.ledger.requests()).toHaveLength(0)
  })
})

it('/new begins no other conversation where nothing was said since the last one', async () => {
  const { tell, daemon } = await family()
  expect(await tell(444, '@parley_bot hello')).toBe('answered')
  expect(await tell(444, '/new@parley_bot')).toContain('Done: a fresh conversation')
  const all = { limit: 10, offset: 0, inactive: true } as const
  const { total } = await daemon.operator.sessions.list(all)
  for (let nth = 0; nth < 3; nth++) expect(await tell(444, '/new@parley_bot')).toContain('fresh already')
  expect((await daemon.operator.sessions.list(all)).total).toBe(total)
  expect(await tell(444, '@parley_bot again')).toBe('answered')
}, 60_000)
