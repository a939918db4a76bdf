import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startSlackHousehold } from './slack-household.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

it('S41: on Discord a mention is no secret: who forgets a message with one takes no answer that has the same', async () => {
  const { discord, daemon, thread } = await startDiscordHousehold({ script: hear })
  const { world, ledger } = discord
  const said = async (from: string, text: string) => {
    const after = ledger.mark()
    const message = world.say({ from, channel: thread, text: `<@${world.bot.id}> ${text}` })
    await ledger.nextFromBot('sent', { after })
    return message
  }
  const { id } = await said('444', 'the bin goes out')
  await said('555', 'the cat stays in')
  const { counts } = await daemon.operator.forgetting.forget({ kind: 'message', name: id, confirmed: true })
  expect(counts).toMatchObject({ sent: 1 })
})

it('S41: on Slack a mention is no secret: who forgets a message with one takes no answer that has the same', async () => {
  const { slack, daemon } = await startSlackHousehold({ script: hear })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const root = world.say({ from: 'U444', channel, text: 'what is it about?' })
  await ledger.confirmed(root.ts)
  const said = async (from: string, text: string) => {
    const after = ledger.mark()
    const { ts } = world.say({ from, channel, thread: root, text: `<@U0BOT> ask <@U0123ABCD45> ${text}` })
    await ledger.nextFromBot('sent', { after })
    return ts
  }
  const name = await said('U444', 'the bin goes out')
  await said('U333', 'the cat stays in')
  const { counts } = await daemon.operator.forgetting.forget({ kind: 'message', name, confirmed: true })
  expect(counts).toMatchObject({ sent: 1 })
})
