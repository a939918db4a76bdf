import { describe, expect, test } from 'vitest'
import type { DiscordServer, DiscordServerOptions } from '../../../src/rehearsal/discord/server.ts'
import { rehearse, rest } from './rehearsal.ts'

async function withChannel(options: DiscordServerOptions = {}) {
  const server = await rehearse(options)
  const ada = server.world.addUser({ username: 'ada' })
  const guild = server.world.addGuild({ name: 'Workshop' })
  const channel = server.world.addChannel({ guild, name: 'engines' })
  const send = (body: object, id = channel.id) => rest(server, 'POST', `/channels/${id}/messages`, { body })
  return { server, ada, channel, send }
}

const texts = (server: DiscordServer, id: string) => server.world.messages(id).map(({ message }) => message.content)

describe('who may call', () => {
  test.each(['GET /users/@me', 'GET /gateway/bot'])('%s is refused with another token', async (route) => {
    const { server } = await withChannel()
    const [verb = '', path = ''] = route.split(' ')
    expect(await rest(server, verb, path, { token: 'other' })).toMatchObject({
      status: 401,
      body: { message: '401: Unauthorized', code: 0 },
    })
    expect((await rest(server, verb, path)).status).toBe(200)
  })

  test('a route that is not rehearsed is a 404 and stands in the ledger', async () => {
    const { server } = await withChannel()
    expect((await rest(server, 'GET', '/voice/regions')).status).toBe(404)
    expect(server.ledger.entries).toContainEqual(
      expect.objectContaining({ kind: 'unrehearsed', what: 'GET /voice/regions' }),
    )
  })
})

describe('messages', () => {
  test.each([
    ['2,001 characters', { content: 'x'.repeat(2001) }, 400, 50_035],
    ['an empty text', { content: ' ' }, 400, 50_006],
    ['a nonce of 26 characters', { content: 'x', nonce: 'n'.repeat(26) }, 400, 50_035],
    ['a reply to nothing', { content: 'x', message_reference: { message_id: '5' } }, 400, 50_035],
  ])('%s is refused', async (_, body, status, code) => {
    const { send } = await withChannel()
    expect(await send(body)).toMatchObject({ status, body: { code } })
  })

  test('the refusal of a long text names field and rule', async () => {
    const { send } = await withChannel()
    expect((await send({ content: 'x'.repeat(2001) })).body).toEqual({
      message: 'Invalid Form Body',
      code: 50_035,
      errors: {
        content: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message: 'Must be 2000 or fewer in length.' }] },
      },
    })
  })

  test('a nonce gives the first message back only when it is enforced', async () => {
    const { server, channel, send } = await withChannel()
    const first = await send({ content: 'one', nonce: 'k', enforce_nonce: true })
    const again = await send({ content: 'one, once more', nonce: 'k', enforce_nonce: true })
    expect(again.body).toMatchObject({ id: first.body.id, content: 'one' })
    await send({ content: 'two', nonce: 'k' })
    expect(texts(server, channel.id)).toEqual(['one', 'two'])
  })

  test('a nonce is forgotten after some minutes', async () => {
    let now = Date.parse('2026-11-21T12:00:00Z')
    const { server, channel, send } = await withChannel({ now: () => now })
    await send({ content: 'one', nonce: 'k', enforce_nonce: true })
    now += 6 * 60_000
    await send({ content: 'one', nonce: 'k', enforce_nonce: true })
    expect(texts(server, channel.id)).toEqual(['one', 'one'])
  })

  test('what is written pings, unless allowed_mentions says otherwise', async () => {
    const { server, ada, channel, send } = await withChannel()
    const content = `<@${ada.id}> @everyone`
    await send({ content })
    await send({ content, allowed_mentions: { parse: [] } })
    expect(
      server.world.messages(channel).map(({ message }) => [message.mentions.length, message.mention_everyone]),
    ).toEqual([
      [1, true],
      [0, false],
    ])
  })

  test('edit and delete act on own messages only', async () => {
    const { server, ada, channel, send } = await withChannel()
    const foreign = server.world.say({ from: ada, channel, text: 'mine' })
    const own = String((await send({ content: 'one' })).body.id)
    const at = (id: string) => `/channels/${channel.id}/messages/${id}`
    expect((await rest(server, 'PATCH', at(foreign.id), { body: { content: 'x' } })).body.code).toBe(50_005)
    expect((await rest(server, 'DELETE', at(foreign.id))).body.code).toBe(50_013)
    expect((await rest(server, 'PATCH', at(own), { body: { content: 'two' } })).body.content).toBe('two')
    expect((await rest(server, 'DELETE', at(own))).status).toBe(204)
    expect((await rest(server, 'PATCH', at(own), { body: { content: 'x' } })).body.code).toBe(10_008)
  })

  test('messages after an id come newest first, the oldest ones of what follows', async () => {
    const { server, ada, channel } = await withChannel()
    const said = ['a', 'b', 'c', 'd'].map((text) => server.world.say({ from: ada, channel, text }))
    const found = await rest(server, 'GET', `/channels/${channel.id}/messages?after=${said[0]?.id}&limit=2`)
    expect(found.body).toMatchObject([{ content: 'c' }, { content: 'b' }])
    expect((await rest(server, 'GET', `/channels/${channel.id}/messages?limit=101`)).status).toBe(400)
  })
})

describe('F-C10: places that are refused', () => {
  test.each([
    ['a channel that is not there', () => '5', 404, 10_003],
    ['a hidden channel', ({ server, channel }: Scene) => hide(server, channel.id, 'hidden'), 403, 50_001],
    ['a read-only channel', ({ server, channel }: Scene) => hide(server, channel.id, 'read_only'), 403, 50_013],
    ['a thread of a read-only channel', ({ server, channel }: Scene) => threadOf(server, channel.id), 403, 50_013],
    ['a person who takes no messages', ({ server }: Scene) => closedDirect(server), 403, 50_007],
  ])('%s', async (_, spoil, status, code) => {
    const scene = await withChannel()
    expect(await scene.send({ content: 'hi' }, spoil(scene))).toMatchObject({ status, body: { code } })
  })

  type Scene = Awaited<ReturnType<typeof withChannel>>

  function hide(server: DiscordServer, id: string, access: 'hidden' | 'read_only'): string {
    server.world.setAccess(id, access)
    return id
  }

  function threadOf(server: DiscordServer, channel: string): string {
    server.world.setAccess(channel, 'read_only')
    return server.world.addThread({ channel, name: 'plans' }).id
  }

  function closedDirect(server: DiscordServer): string {
    return server.world.direct(server.world.addUser({ username: 'eve', closedDirect: true })).channel.id
  }
})

describe('threads, direct chats, limits, forms', () => {
  test('the thread of a message has its id, and there is one', async () => {
    const { server, ada, channel } = await withChannel()
    const { id } = server.world.say({ from: ada, channel, text: 'plans' })
    const start = () =>
      rest(server, 'POST', `/channels/${channel.id}/messages/${id}/threads`, { body: { name: 'Plans' } })
    expect((await start()).body).toMatchObject({ id, parent_id: channel.id, type: 11 })
    expect((await start()).body.code).toBe(160_004)
  })

  test('a direct chat is opened once', async () => {
    const { server, ada } = await withChannel()
    const open = () => rest(server, 'POST', '/users/@me/channels', { body: { recipient_id: ada.id } })
    const [first, again] = [await open(), await open()]
    expect(first.body).toMatchObject({ type: 1, recipients: [{ id: ada.id }] })
    expect(again.body.id).toBe(first.body.id)
  })

  test('an empty bucket is a 429 with the time to wait, and other channels have their own', async () => {
    const { server, send } = await withChannel({ rateLimit: { limit: 1, windowMs: 60_000 } })
    const other = server.world.addChannel({ guild: [...server.world.guilds.keys()][0] ?? '', name: 'other' })
    const first = await send({ content: 'one' })
    expect(first.headers.get('x-ratelimit-remaining')).toBe('0')
    const refused = await send({ content: 'two' })
    expect(refused).toMatchObject({ status: 429, body: { retry_after: expect.any(Number), global: false } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(59)
    expect((await send({ content: 'one' }, other.id)).status).toBe(200)
  })

  test('a form with payload_json and a file is a message with an attachment', async () => {
    const { server, channel } = await withChannel()
    const form = new FormData()
    form.set('payload_json', JSON.stringify({ content: 'see' }))
    form.set('files[0]', new Blob(['bytes']), 'plan.txt')
    const response = await fetch(`${server.apiRoot}/v10/channels/${channel.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bot ${server.token}` },
      body: form,
    })
    expect(await response.json()).toMatchObject({ content: 'see', attachments: [{ filename: 'plan.txt' }] })
  })

  test('a drop after the effect leaves the message and no answer', async () => {
    const { server, channel, send } = await withChannel()
    server.faults.add({ method: 'createMessage', action: { kind: 'drop', when: 'after' } })
    await expect(send({ content: 'one' })).rejects.toThrow()
    expect(texts(server, channel.id)).toEqual(['one'])
    expect(server.ledger.calls('createMessage')).toMatchObject([{ status: 200, fault: 'drop' }])
  })
})
