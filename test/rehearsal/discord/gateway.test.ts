import { describe, expect, test } from 'vitest'
import type { DiscordServer } from '../../../src/rehearsal/discord/server.ts'
import { GatewayClient, INTENTS, rehearse } from './rehearsal.ts'

async function withGuild() {
  const server = await rehearse()
  const ada = server.world.addUser({ username: 'ada' })
  const guild = server.world.addGuild({ name: 'Workshop' })
  const channel = server.world.addChannel({ guild, name: 'engines' })
  return { server, ada, guild, channel }
}

async function ready(server: DiscordServer, intents = INTENTS): Promise<{ client: GatewayClient; session: string }> {
  const client = new GatewayClient(server)
  await client.identify(server.token, intents)
  const { d } = await client.dispatch('READY')
  return { client, session: (d as { session_id: string }).session_id }
}

describe('identify', () => {
  test('READY names the bot and its guilds, and each guild follows with its channels', async () => {
    const { server, guild, channel } = await withGuild()
    const thread = server.world.addThread({ channel, name: 'plans' })
    const { client } = await ready(server)
    expect((await client.dispatch('READY')).d).toMatchObject({
      user: { id: server.world.bot.id },
      guilds: [{ id: guild.id, unavailable: true }],
      resume_gateway_url: server.gateway.url,
    })
    expect((await client.dispatch('GUILD_CREATE')).d).toMatchObject({
      id: guild.id,
      channels: [{ id: channel.id, type: 0 }],
      threads: [{ id: thread.id, parent_id: channel.id, type: 11 }],
    })
  })

  test.each([
    ['another token', 'wrong', INTENTS, 4004],
    ['intents that do not exist', undefined, 2 ** 30, 4013],
    ['a privileged intent that is off', undefined, INTENTS | (1 << 1), 4014],
  ])('F-B13: %s is a close', async (_, token, intents, code) => {
    const { server } = await withGuild()
    const client = new GatewayClient(server)
    await client.identify(token ?? server.token, intents)
    expect(await client.closed).toBe(code)
  })

  test('F-B13: Message Content that is off in the portal is 4014', async () => {
    const { server } = await withGuild()
    server.messageContent = false
    const client = new GatewayClient(server)
    await client.identify(server.token)
    expect(await client.closed).toBe(4014)
  })

  test('a frame before IDENTIFY is 4003, a second IDENTIFY 4005', async () => {
    const { server } = await withGuild()
    const early = new GatewayClient(server)
    await early.next(({ op }) => op === 10)
    early.send(3, {})
    expect(await early.closed).toBe(4003)
    const { client } = await ready(server)
    client.send(2, { token: server.token, intents: INTENTS, properties: {} })
    expect(await client.closed).toBe(4005)
  })
})

describe('messages', () => {
  test('carry their guild, or the channel type of a direct chat', async () => {
    const { server, ada, guild, channel } = await withGuild()
    const { client } = await ready(server)
    server.world.say({ from: ada, channel, text: 'here' })
    server.world.say({ from: ada, text: 'there' })
    await client.next(({ d }) => (d as { content?: string } | null)?.content === 'there')
    const said = client.frames.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => d)
    expect(said).toMatchObject([
      { content: 'here', guild_id: guild.id },
      { content: 'there', channel_type: 1 },
    ])
    expect(said[1]).not.toHaveProperty('guild_id')
  })

  test('are blank without the intent, except for mentions and direct chats', async () => {
    const { server, ada, channel } = await withGuild()
    const { client } = await ready(server, INTENTS & ~(1 << 15))
    server.world.say({ from: ada, channel, text: 'secret' })
    server.world.say({ from: ada, channel, text: `<@${server.world.bot.id}> open` })
    server.world.say({ from: ada, text: 'direct' })
    await client.next(({ d }) => (d as { content?: string } | null)?.content === 'direct')
    expect(client.frames.filter(({ t }) => t === 'MESSAGE_CREATE')).toMatchObject([
      { d: { content: '' } },
      { d: { content: `<@${server.world.bot.id}> open` } },
      { d: { content: 'direct' } },
    ])
  })
})

describe('lost connections', () => {
  test('a resume replays what came in between, in order, and nothing twice', async () => {
    const { server, ada, channel } = await withGuild()
    const { client, session } = await ready(server)
    const { s } = await client.dispatch('GUILD_CREATE')
    server.gateway.cut()
    await client.closed
    for (const text of ['one', 'two']) server.world.say({ from: ada, channel, text })
    const back = new GatewayClient(server)
    await back.resume(server.token, session, s ?? 0)
    await back.dispatch('RESUMED')
    expect(back.frames.filter(({ op }) => op === 0)).toMatchObject([
      { d: { content: 'one' }, s: (s ?? 0) + 1 },
      { d: { content: 'two' } },
      { t: 'RESUMED' },
    ])
  })

  test.each([
    ['that was forgotten', (server: DiscordServer) => server.gateway.forgetSessions(), undefined],
    ['with a number from the future', () => {}, 999],
  ])('a resume %s is answered by op 9', async (_, spoil, seq) => {
    const { server } = await withGuild()
    const { client, session } = await ready(server)
    spoil(server)
    client.hangUp()
    const back = new GatewayClient(server)
    await back.resume(server.token, session, seq ?? 1)
    expect(await back.next(({ op }) => op === 9)).toMatchObject({ d: false })
  })

  test('an ordinary goodbye ends the session', async () => {
    const { server } = await withGuild()
    const { client, session } = await ready(server)
    client.hangUp(1000)
    await server.ledger.nextGateway('closed')
    const back = new GatewayClient(server)
    await back.resume(server.token, session, 1)
    expect(await back.next(({ op }) => op === 9)).toMatchObject({ d: false })
  })

  test('heartbeats are acknowledged unless told otherwise', async () => {
    const { server } = await withGuild()
    const { client } = await ready(server)
    client.send(1, null)
    await client.next(({ op }) => op === 11)
    server.gateway.acknowledges = false
    client.send(1, null)
    await server.ledger.collect(2, (entry) => entry.kind === 'gateway' && entry.event === 'heartbeat')
    server.gateway.askToReconnect()
    await client.next(({ op }) => op === 7)
    expect(client.frames.filter(({ op }) => op === 11)).toHaveLength(1)
  })
})
