import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { holding } from './forgetting-house.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** A post in a forum of Discord: a thread whose first message has its id. */
async function forumPost() {
  const house = await startDiscordHousehold({ script: hear })
  const { world, ledger } = house.discord
  await ledger.nextCall('overwriteCommands')
  const guild = world.addGuild({ name: 'Club' })
  const forum = world.addChannel({ guild, name: 'help', type: 15 as never })
  const post = world.addThread({ channel: forum, name: 'the boiler' })
  const answered = async (from: string, text: string, more: object = {}) => {
    const after = ledger.mark()
    world.say({ from, channel: post, text: `<@${world.bot.id}> ${text}`, ...more })
    return (await ledger.nextFromBot('sent', { after })).text
  }
  const first = await answered('444', 'zqx the boiler leaks', { extra: { id: post.id } })
  return { ...house, dataDir: house.dataDir, world, ledger, forum, post, first, answered }
}

it('S41: a reply to the message with which a post of a forum begins means that message', async () => {
  const { post, answered, dataDir } = await forumPost()
  await answered('555', 'zqy me too')
  expect(await answered('222', '!forget', { replyTo: post.id })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(dataDir, 'zqx')).toEqual([])
  expect(holding(dataDir, 'zqy me too')).not.toEqual([])
})

it('S41: a forum that is named goes with all its posts', async () => {
  const { forum, daemon, dataDir } = await forumPost()
  const name = `discord:channel:${forum.id}`
  await daemon.operator.forgetting.forget({ kind: 'chat', name, confirmed: true })
  await expect.poll(() => holding(dataDir, 'zqx')).toEqual([])
})

it('S41: a post of a forum goes by /forget chat yes in it, and its other posts stay', async () => {
  const { world, forum, ledger, answered, dataDir } = await forumPost()
  const other = world.addThread({ channel: forum, name: 'the stove' })
  const after = ledger.mark()
  world.say({ from: '444', channel: other, text: `<@${world.bot.id}> zqy is cold` })
  await ledger.nextFromBot('sent', { after })
  expect(await answered('222', '!forget chat yes')).toMatch(/^Forgotten/)
  await expect.poll(() => holding(dataDir, 'zqx')).toEqual([])
  expect(holding(dataDir, 'zqy is cold')).not.toEqual([])
})
