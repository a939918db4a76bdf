import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { rateLimited } from '../../src/rehearsal/slack/server.ts'
import { WatchedLog } from '../adapters/slack/watched-log.ts'
import { setClock } from './set-clock.ts'
import { startSlackHousehold } from './slack-household.ts'

const echo: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1) ?? ''}`)

describe('Slack in trouble', () => {
  it('F-A12: an answer whose receipt was lost is found again by its key: one message, unmarked', async () => {
    const { slack, stop } = await startSlackHousehold({ script: echo })
    const { world, ledger, faults } = slack
    const channel = world.addChannel({ name: 'workshop', members: ['U444'] }).id
    const lost = faults.add({ method: 'chat.postMessage', action: { kind: 'reset', when: 'after' } })
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> once please' })
    await lost.reached
    await ledger.nextCall('conversations.replies')
    world.say({ from: 'U444', channel, thread: root, text: '<@U0BOT> next' })
    await ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes('next'))
    await stop()

    expect(world.messages(channel, { by: 'bot' }).map(({ message }) => message.text)).toEqual([
      expect.stringMatching(/^heard .*once please$/),
      expect.stringMatching(/^heard .*next$/),
    ])
  })

  it('F-C13: told to wait, that conversation waits and no other, and the answer comes once', async () => {
    const clock = setClock('2026-11-26T10:00:00Z')
    const { slack, stop } = await startSlackHousehold({ script: echo, clock })
    const { world, ledger, faults } = slack
    const waits = clock.timerOf(600_000, 5_000)
    faults.add(rateLimited('chat.postMessage', 600))
    world.say({ from: 'U333', text: 'hello' })
    await waits
    world.say({ from: 'U555', text: 'and me?' })
    const answered = (channel: string) => ledger.nextFromBot('sent', { where: (entry) => entry.channel === channel })
    await answered('D555')
    expect(world.messages(world.direct('U333'), { by: 'bot' })).toEqual([])
    clock.skip(600_000)
    await answered('D333')
    await stop()

    expect(world.messages(world.direct('U333'), { by: 'bot' })).toHaveLength(1)
  })

  it.each([
    ['a wrong bot token', { botToken: 'xoxb-not-the-one' }, /refuses the bot token.*install the app again/],
    ['a wrong app-level token', { appToken: 'xapp-not-the-one' }, /refuses the app-level token.*connections:write/],
  ])('%s: that account is down with the remedy, the other answers, no token is in the log', async (_, wrong, why) => {
    const logger = new WatchedLog()
    const { slack, daemon } = await startSlackHousehold({ script: echo, logger, others: { second: wrong } })
    const { channels } = await daemon.operator.status()
    slack.world.say({ from: 'U333', text: 'hello' })
    await slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes('hello'))

    expect(channels).toMatchObject([
      { account: 'default', status: 'up' },
      { account: 'second', status: 'down', detail: expect.stringMatching(why) },
    ])
    expect(JSON.stringify(logger.lines)).not.toContain('not-the-one')
  })

  it('a token that is revoked while it runs: down with the reason, and back when it is good again', async () => {
    const logger = new WatchedLog()
    const { slack, daemon } = await startSlackHousehold({ script: echo, logger })
    slack.app.botTokenRefusal = 'token_revoked'
    slack.world.say({ from: 'U333', text: 'hello' })
    await logger.until(() => logger.lines.some(({ sentence }) => sentence === 'Slack is down.'))
    const { channels } = await daemon.operator.status()
    expect(channels).toMatchObject([{ status: 'down', detail: expect.stringContaining('token_revoked') }])

    slack.app.botTokenRefusal = null
    await logger.until(() => logger.lines.filter(({ sentence }) => sentence === 'Slack is up.').length === 2)
    expect((await daemon.operator.status()).channels).toMatchObject([{ status: 'up' }])
  })
})
