import { describe, expect, it } from 'vitest'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type DiscordHousehold, startDiscordHousehold } from './discord-household.ts'

async function workshop(script: Script = () => textReply('answered')): Promise<DiscordHousehold> {
  const house = await startDiscordHousehold({ script })
  await house.discord.ledger.nextCall('overwriteCommands')
  return house
}

/** Runs a slash command and resolves with what its person alone is shown. */
async function run(house: DiscordHousehold, input: Parameters<DiscordHousehold['discord']['world']['slash']>[0]) {
  const { ledger, world } = house.discord
  const mark = ledger.mark()
  world.slash(input)
  return ledger.nextWhisper('edited', { after: mark })
}

describe('Discord slash commands', () => {
  it('T27: are acknowledged after their commit and answered to who ran them alone', async () => {
    const house = await workshop()
    const { channel, discord } = house
    expect(await run(house, { from: '444', channel, command: 'whoami' })).toMatchObject({
      userId: '444',
      channelId: channel.id,
      text: expect.stringContaining('your role is guest'),
    })
    expect(discord.ledger.whispers().map(({ change }) => change)).toEqual(['deferred', 'edited'])
    expect(discord.world.messages(channel.id, { bot: true })).toEqual([])
    expect(house.anthropic.ledger.requests()).toEqual([])
  })

  it('act on the conversation they are run in, a thread or a direct chat too, with what is typed behind them', async () => {
    const house = await workshop()
    const { thread } = house
    const muted = await run(house, { from: '222', channel: thread, command: 'mute', input: '2h' })
    expect(muted.text).toContain('I say nothing here until')
    expect((await run(house, { from: '222', channel: thread, command: 'mute', input: 'off' })).text).toBe('I am back.')
    expect((await run(house, { from: '222', command: 'status' })).text).toContain('discord: up')
  })

  it('/stop ends a running turn from beside it', async () => {
    const gate = createGate()
    const house = await workshop(() => textReply('too late', { holds: [{ beforeDelta: 0, gate }] }))
    const { thread, discord } = house
    discord.world.say({ from: '222', channel: thread, text: 'think long' })
    await gate.reached
    expect((await run(house, { from: '222', channel: thread, command: 'stop' })).text).toBe('Stopped.')
    gate.release()
    expect((await run(house, { from: '222', channel: thread, command: 'stop' })).text).toContain('Nothing is running')
    expect(discord.world.messages(thread.id, { bot: true })).toEqual([])
  })

  it("T27: an owner's command of a guest does nothing and leaves the chat silent", async () => {
    const house = await workshop()
    const { channel, discord } = house
    discord.world.slash({ from: '444', channel, command: 'status' })
    expect(await discord.ledger.nextWhisper('edited')).toMatchObject({
      userId: '444',
      text: 'Only my owner may do that.',
    })
    expect(discord.world.messages(channel.id, { bot: true })).toEqual([])
  })

  it('are registered once, and not again by the next start', async () => {
    const house = await workshop()
    await run(house, { from: '222', command: 'whoami' })
    await house.stop()
    await house.start()
    await run(house, { from: '222', command: 'whoami' })
    expect(house.discord.ledger.calls('overwriteCommands')).toHaveLength(1)
    expect(house.discord.ledger.entries.filter(({ kind }) => kind === 'unrehearsed')).toEqual([])
  })

  it('T27: an answer whose interaction is no more goes to the direct chat, never into the channel', async () => {
    const house = await workshop()
    const { channel, discord } = house
    const body = { message: 'Unknown Webhook', code: 10_015 }
    discord.faults.add({
      method: 'editInteractionAnswer',
      action: { kind: 'answer', when: 'before', status: 404, body },
    })
    const mark = discord.ledger.mark()
    discord.world.slash({ from: '222', channel, command: 'whoami' })
    const sent = await discord.ledger.nextFromBot('sent', { after: mark })
    expect(sent.channelId).toBe(discord.world.direct('222').channel.id)
    expect(sent.text).toContain('your role is owner')
  })

  it('typed with a mark they still work, and are answered in the channel unless they are private', async () => {
    const { channel, discord } = await workshop()
    const { ledger, world } = discord
    world.say({ from: '222', channel, text: '!whoami' })
    expect((await ledger.nextFromBot('sent')).channelId).toBe(channel.id)
    const mark = ledger.mark()
    world.say({ from: '222', channel, text: '!status' })
    expect((await ledger.nextFromBot('sent', { after: mark })).channelId).toBe(world.direct('222').channel.id)
  })
})
