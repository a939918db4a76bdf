import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { AnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startSlackHousehold } from './slack-household.ts'

/** Ada and a chat of hers on one platform, where commands are the platform's own. */
interface Place {
  readonly anthropic: AnthropicServer
  /** Says it and resolves with the answer. */
  say(text: string): Promise<string>
  /** Runs a command and resolves with what Ada alone is shown. */
  run(command: string, args?: string): Promise<string>
  /** Resolves when one more message of the bot was deleted. */
  deleted(): Promise<unknown>
  /** What stands there of the bot. */
  answers(): readonly string[]
}

function numbered(): Script {
  let no = 0
  return (request) => textReply(`answer ${++no} to ${lastUserText(request).split('\n').at(-1)}`)
}

async function onDiscord(): Promise<Place> {
  const house = await startDiscordHousehold({ script: numbered() })
  const { discord, thread } = house
  const { ledger, world } = discord
  await ledger.nextCall('overwriteCommands')
  return {
    anthropic: house.anthropic,
    async say(text) {
      const after = ledger.mark()
      world.say({ from: '222', channel: thread, text: `<@${world.bot.id}> ${text}` })
      return (await ledger.nextFromBot('sent', { after, where: (entry) => entry.text.startsWith('answer') })).text
    },
    async run(command, input) {
      const after = ledger.mark()
      world.slash({ from: '222', channel: thread, command, ...(input === undefined ? {} : { input }) })
      return (await ledger.nextWhisper('edited', { after })).text
    },
    deleted: () => ledger.nextFromBot('deleted', { after: 0 }),
    answers: () => world.messages(thread.id, { bot: true }).map(({ message }) => message.content),
  }
}

async function onSlack(): Promise<Place> {
  const app = { slashCommands: ['/parley'] }
  const house = await startSlackHousehold({ script: numbered(), slack: { app } })
  const { ledger, world } = house.slack
  const { id: channel } = world.direct('U333')
  return {
    anthropic: house.anthropic,
    async say(text) {
      const after = ledger.mark()
      world.say({ from: 'U333', text })
      return (await ledger.nextFromBot('sent', { after })).text
    },
    async run(command, args = '') {
      const after = ledger.mark()
      world.slash({ from: 'U333', channel, command: '/parley', text: `${command} ${args}`.trim() })
      return (await ledger.nextWhisper({ after })).text
    },
    deleted: () => ledger.nextFromBot('deleted', { after: 0 }),
    answers: () => world.messages(channel, { by: 'bot' }).map(({ message }) => message.text),
  }
}

const PLATFORMS = { discord: onDiscord, slack: onSlack } as const

describe.each(Object.entries(PLATFORMS))('on %s', (_platform, open) => {
  it('/undo deletes the answer, and no later prompt has the exchange', async () => {
    const place = await open()
    await place.say('the code is 4711')
    await place.say('my secret is blue')
    expect(await place.run('undo')).toMatch(/^Taken back: the last message and my answer to it\./)
    await place.deleted()
    expect(place.answers()).toEqual([expect.stringContaining('4711')])
    await place.say('and now?')
    const prompt = JSON.stringify(place.anthropic.ledger.requests().at(-1)?.messages)
    expect(prompt).toContain('4711')
    expect(prompt).not.toContain('blue')
  })

  it('/retry answers the same words once more, in the place of the answer', async () => {
    const place = await open()
    expect(await place.say('one')).toContain('answer 1')
    const again = place.anthropic.ledger.requests().length + 1
    expect(await place.run('retry')).toBe('I am answering that once more.')
    await place.deleted()
    await expect.poll(() => place.answers()).toEqual([expect.stringContaining('answer 2')])
    expect(place.anthropic.ledger.requests()).toHaveLength(again)
  })

  it('/forget takes the last words and the answer to them, for good, and shows what it would take of all', async () => {
    const place = await open()
    await place.say('the code is 4711')
    await place.say('my secret is blue')
    expect(await place.run('forget', 'last')).toMatch(/^Forgotten: \d+ entries of logs/)
    await place.deleted()
    expect(place.answers().filter((text) => text.includes('blue'))).toEqual([])
    await place.say('and now?')
    const prompt = JSON.stringify(place.anthropic.ledger.requests().at(-1)?.messages)
    expect(prompt).toContain('4711')
    expect(prompt).not.toContain('blue')
    expect(await place.run('forget', 'me')).toContain('Nothing was removed yet.')
    expect(await place.run('forget', 'me yes')).toMatch(/^Forgotten: /)
    expect(await place.run('forget', 'last')).toBe('You have said nothing here that I still know.')
  })

  it('/title, /sessions and /resume continue an earlier conversation', async () => {
    const place = await open()
    await place.say('plans for the garden')
    expect(await place.run('title', 'The garden')).toBe('This conversation is called: The garden')
    await place.run('new')
    await place.say('a cake for Sunday')
    const lines = (await place.run('sessions')).split('\n')
    expect(lines[0]).toContain('a cake for Sunday (just now, in use)')
    expect(lines[1]).toContain('The garden (just now)')
    expect(await place.run('resume', '2')).toBe('We continue this conversation: The garden')
    await place.say('and the roses?')
    expect(JSON.stringify(place.anthropic.ledger.requests().at(-1)?.messages)).toContain('plans for the garden')
  })
})
