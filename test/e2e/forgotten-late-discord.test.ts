import { expect, it } from 'vitest'
import { holding } from './forgetting-house.ts'
import { PARLEY, SAGE, twoBotsOnDiscord } from './two-bots-on-discord.ts'

const CANARY = 'canaryboth'

/** One of two bots has received a message, which the other has not, and is asked to forget it. */
async function forgottenByOne(id?: string) {
  const bots = await twoBotsOnDiscord({ edits: 'rerun' })
  const { servers, channel, ask } = bots
  await ask('sage', `<@${SAGE}> hello`)
  await ask('parley', `<@${PARLEY}> hello`)
  const { world, ledger } = servers.parley
  const message = world.say({ from: '444', channel, text: `the key is ${CANARY}`, ...(id && { extra: { id } }) })
  await ask('parley', `<@${PARLEY}> well?`)
  const forget = async () => {
    const after = ledger.mark()
    world.slash({ from: '444', channel: channel.id, command: 'forget', input: 'last' })
    return (await ledger.nextWhisper('edited', { after })).text
  }
  return { ...bots, message, forget }
}

it.each([
  ['in time', undefined],
  ['days after it was sent', '1300000000000000000'],
])('S41: a message that comes to the other bot %s is not kept', async (_when, id) => {
  const { house, servers, channel, ask, forget, message, prompt } = await forgottenByOne(id)
  expect(await forget()).toMatch(/^Forgotten: .*1 received message/)
  servers.sage.world.say({ from: '444', channel, text: message.content, extra: { id: message.id } })
  await ask('sage', `<@${SAGE}> and now?`)
  expect(prompt()).not.toContain(CANARY)
  expect(holding(house.dataDir, CANARY)).toEqual([])
})

/** The message as its writer has edited it, for the bot that has not received it before. */
function edited({ message, servers, channel }: Awaited<ReturnType<typeof forgottenByOne>>): void {
  const content = `<@${SAGE}> the key is ${CANARY}`
  const mentions = [{ id: SAGE, username: 'sage', discriminator: '0', bot: true }]
  const edited_timestamp = new Date(Date.now() + 60_000).toISOString()
  const { guild_id } = channel
  servers.sage.world.raw('MESSAGE_UPDATE', { ...message, guild_id, content, mentions, edited_timestamp })
}

it('S41: an edit brings its words to no other bot, which had not received it', async () => {
  const one = await forgottenByOne()
  expect(await one.forget()).toMatch(/^Forgotten: .*1 received message/)
  edited(one)
  await one.ask('sage', `<@${SAGE}> and now?`)
  expect(one.prompt()).not.toContain(CANARY)
  expect(holding(one.house.dataDir, CANARY)).toEqual([])
})

it('S41: an edit goes from the bot that has received the message by that alone', async () => {
  const one = await forgottenByOne()
  const after = one.servers.sage.ledger.mark()
  edited(one)
  await one.servers.sage.ledger.nextFromBot('sent', { after })
  expect(one.prompt()).toContain(CANARY)
  expect(await one.forget()).toMatch(/^Forgotten: .*2 received messages/)
  await one.ask('sage', `<@${SAGE}> and now?`)
  expect(one.prompt()).not.toContain(CANARY)
  expect(holding(one.house.dataDir, CANARY)).toEqual([])
})

it('S41: a message that somebody has deleted is forgotten by whoever wrote it', async () => {
  const { house, servers, channel, ask, message } = await forgottenByOne()
  const { world, ledger } = servers.parley
  world.raw('MESSAGE_DELETE', { id: message.id, channel_id: channel.id, guild_id: channel.guild_id })
  await ask('parley', `<@${PARLEY}> well?`)
  const after = ledger.mark()
  world.slash({ from: '444', channel: channel.id, command: 'forget', input: message.id })
  expect((await ledger.nextWhisper('edited', { after })).text).toMatch(/^Forgotten: .*1 received message/)
  expect(holding(house.dataDir, CANARY)).toEqual([])
})
