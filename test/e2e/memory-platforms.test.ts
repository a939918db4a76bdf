import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { agents, isCheckpoint, noting, remembering } from './remembering.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

const checkpoint = { turns: 100, quietGroupMessages: 100, idleMinutes: 1_000 }
const config = { agents, session: { queue: { max: 100, busy: 'queue' }, checkpoint } } as const

const script = remembering(
  noting(
    ['memory_save', { text: 'The code of the gate is bluebird.', lines: [2] }],
    ['memory_save', { text: 'Ada is in a choir.', lines: [1] }],
    ['working_memory', { text: 'The gate opens with bluebird.' }],
    ['describe', { text: 'The gate and bluebird' }],
  ),
)

/** Opens a thread in which somebody is in a choir, and goes on there. */
async function choirThread({ world, ledger }: SlackHousehold['slack']) {
  const channel = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] }).id
  const thread = world.say({ from: 'U333', channel, text: '<@U0BOT> I am in a choir' })
  await ledger.nextFromBot('sent')
  return {
    ...{ channel, world },
    async said(text: string) {
      const after = ledger.mark()
      const message = world.say({ from: 'U333', channel, thread, text: `<@U0BOT> ${text}` })
      await ledger.nextFromBot('sent', { after })
      return message
    },
    async whispered(command: string) {
      const after = ledger.mark()
      world.say({ from: 'U333', channel, thread, text: `<@U0BOT> !${command}` })
      return (await ledger.nextWhisper({ after })).text
    },
  }
}

describe('memory on Slack', () => {
  it('S38, S39: a deleted message takes with it what is remembered of it, and nothing else', async () => {
    const house = await startSlackHousehold({ script, config, slack: { app: { slashCommands: ['/parley'] } } })
    const { channel, world, said, whispered } = await choirThread(house.slack)
    const gate = await said('the gate opens with bluebird')
    const [session] = (await house.daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })).sessions
    expect(await whispered('checkpoint')).toMatch(/^Done: 2 new/)
    const requests = () => house.anthropic.ledger.requests().filter((one) => !isCheckpoint(one))
    const list = async () => (await house.daemon.operator.memory.list({})).map(({ text }) => text)
    expect(await list()).toEqual(['Ada is in a choir.', 'The code of the gate is bluebird.'])
    await said('and then')
    expect(JSON.stringify(requests().at(-1)?.messages)).toContain('The gate opens with bluebird.')
    expect(await house.daemon.operator.sessions.show(session?.id ?? '')).toMatchObject({
      description: 'The gate and bluebird',
    })
    world.remove(channel, gate)
    await said('what was it?')
    expect(JSON.stringify(requests().at(-1)?.messages)).not.toContain('bluebird')
    expect(await list()).toEqual(['Ada is in a choir.'])
    expect((await house.daemon.operator.sessions.show(session?.id ?? '')).description).not.toContain('bluebird')
  })
})

describe('memory on Slack, of words that their author has deleted', () => {
  it('S39, C23: nobody is shown the working memory any more, and the next checkpoint does not bring it back', async () => {
    const once = noting(['working_memory', { text: 'The gate opens with bluebird.' }])
    const asks = (request: MessagesRequest): boolean => JSON.stringify(request.messages).includes('and tea')
    const later: Script = remembering((request) => (asks(request) ? noting()(request) : once(request)))
    const house = await startSlackHousehold({ script: later, config })
    const { channel, world, said, whispered } = await choirThread(house.slack)
    const gate = await said('the gate opens with bluebird')
    expect(await whispered('checkpoint')).toMatch(/^Done/)
    expect(await whispered('memory')).toContain('bluebird')
    world.remove(channel, gate)
    await said('and tea')
    expect(await whispered('memory')).toBe('I remember nothing here yet.')
    expect(await whispered('checkpoint')).toMatch(/^Done/)
    await said('what was it?')
    const [lookedThrough, asked] = [true, false].map((is) =>
      house.anthropic.ledger.requests().findLast((one) => isCheckpoint(one) === is),
    )
    expect(JSON.stringify(lookedThrough?.messages)).not.toContain('bluebird')
    expect(JSON.stringify(asked?.messages)).not.toContain('bluebird')
    expect(await whispered('memory')).toBe('I remember nothing here yet.')
  })
})

describe('memory on Discord', () => {
  it('S38: the commands work as slash commands, for who is known', async () => {
    const house = await startDiscordHousehold({ script, config })
    const { world, ledger } = house.discord
    await ledger.nextCall('overwriteCommands')
    const run = async (from: string, command: string, input?: string): Promise<string> => {
      const after = ledger.mark()
      world.slash({ from, channel: house.thread, command, ...(input === undefined ? {} : { input }) })
      return (await ledger.nextWhisper('edited', { after })).text
    }
    expect(await run('222', 'remember', 'the boiler is old')).toBe('I will remember: #1 the boiler is old')
    expect(await run('222', 'memory')).toBe('#1 the boiler is old')
    expect(await run('222', 'memory', 'BOIL')).toBe('#1 the boiler is old')
    expect(await run('444', 'memory')).toBe('Only people whom my owner knows may do that.')
    expect(await run('222', 'checkpoint')).toBe('There is nothing new to look through since the last time.')
    expect(await run('222', 'memory', 'remove 1')).toBe('Removed: #1 the boiler is old')
    expect(house.anthropic.ledger.requests()).toEqual([])
  })
})
