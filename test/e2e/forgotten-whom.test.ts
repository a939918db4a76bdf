import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

it('S41: /forget @bob means nobody where a configured person and another of the platform have that name', async () => {
  const { world, say, addGroup, home } = await forgettingHouse()
  const chat = addGroup('Family')
  world.addUser({ id: 777, firstName: 'Robert', username: 'Bob' })
  world.setMember({ chat, user: 777, status: 'member' })
  await say('the bin goes out', { from: 444, chat })
  await say('the cat stays in', { from: 777, chat })
  expect(await say('/forget @bob')).toContain('telegram:777')
  expect(await say('/forget @bob yes')).not.toMatch(/^Forgotten/)
  expect(await say('/forget bob')).toMatch(/^You mean bob: telegram:444/)
  expect(await say('/forget bob yes')).toMatch(/^Forgotten/)
  expect(holding(home.dataDir, 'the cat stays in')).not.toEqual([])
})

it('S41: on Slack an id without its team means whoever has it here, or says how it is written', async () => {
  const { slack, daemon } = await startSlackHousehold({ script: hear })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const after = ledger.mark()
  world.say({ from: 'U444', channel, text: '<@U0BOT> the bin goes out' })
  await ledger.nextFromBot('sent', { after })
  const ask = (name: string) => daemon.operator.forgetting.forget({ kind: 'person', name, confirmed: false })
  const { whose, counts } = await ask('slack:U444')
  expect(whose?.ids).toEqual([expect.stringMatching(/^slack:\w+\/u444$/)])
  expect(counts.events).toBeGreaterThan(0)
  await expect(ask('slack:U0999')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('slack:<team>/'),
  })
})

it('S41: of a webhook an owner is told that no words are a person’s by it', async () => {
  const { discord, daemon, channel } = await startDiscordHousehold({ script: hear })
  const { world, ledger } = discord
  const after = ledger.mark()
  world.addUser({ id: '888', username: 'feed' })
  world.say({ from: '888', channel, text: 'zqx the build is red', extra: { webhook_id: '888' } })
  world.say({ from: '444', channel, text: `<@${world.bot.id}> what is it?` })
  await ledger.nextFromBot('sent', { after })
  const ask = (name: string) => daemon.operator.forgetting.forget({ kind: 'person', name, confirmed: false })
  await expect(ask('discord:888')).rejects.toMatchObject({ code: 'invalid' })
})
