import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'

import { startDiscordHousehold } from './discord-household.ts'
import { holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

it.each(['<@444>', '<@!444>'])('S41: on Discord an owner names whom to forget by the mention %s', async (mention) => {
  const { discord, thread } = await startDiscordHousehold({ script: hear })
  const { world, ledger } = discord
  await ledger.nextCall('overwriteCommands')
  const after = ledger.mark()
  world.say({ from: '444', channel: thread, text: `<@${world.bot.id}> the bin goes out` })
  await ledger.nextFromBot('sent', { after })
  const asked = ledger.mark()
  world.slash({ from: '222', channel: thread, command: 'forget', input: `${mention} here` })
  const { text } = await ledger.nextWhisper('edited', { after: asked })
  expect(text).toMatch(/^You mean discord:444\.\nThat is in 1 conversation/)
})

it.each(['<@U444>', '<@U444|bob>'])(
  'S41: on Slack an owner names whom to forget by the mention %s',
  async (mention) => {
    const { slack } = await startSlackHousehold({ script: hear })
    const { world, ledger } = slack
    const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
    const after = ledger.mark()
    world.say({ from: 'U444', channel, text: '<@U0BOT> the bin goes out' })
    await ledger.nextFromBot('sent', { after })
    const asked = ledger.mark()
    world.say({ from: 'U333', text: `!forget ${mention}` })
    const { text } = await ledger.nextFromBot('sent', { after: asked })
    expect(text).toMatch(/^You mean slack:\w+\/u444\.\nThat is in 1 conversation/i)
  },
)

it('S41: on Slack a channel is named by its address, where every session of it is that of a thread', async () => {
  const { slack, daemon, dataDir } = await startSlackHousehold({ script: hear })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const after = ledger.mark()
  world.say({ from: 'U444', channel, text: '<@U0BOT> the bin goes out' })
  await ledger.nextFromBot('sent', { after })
  const { sessions } = await daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
  expect(sessions).toMatchObject([{ key: expect.stringContaining(`slack:channel:${channel.toLowerCase()}/`) }])
  await daemon.operator.forgetting.forget({ kind: 'chat', name: `slack:channel:${channel}`, confirmed: true })
  await expect.poll(() => holding(dataDir, 'the bin goes out')).toEqual([])
})
