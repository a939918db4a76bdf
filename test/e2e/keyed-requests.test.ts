import { describe, expect, it } from 'vitest'
import { type ApiHouse, startApiHouse } from './api-house.ts'
import { setClock } from './set-clock.ts'

const WORDS = { text: 'hello', sender: 'api:jo' }
const PATH = '/v1/sessions/api:desk/messages'

async function client(house: ApiHouse) {
  const { headers } = await house.bearer({ namespace: 'api' })
  const send = (key: string, body: unknown = WORDS, path = PATH) =>
    house.ask(path, { headers: { ...headers, 'idempotency-key': key }, body })
  return { headers, send }
}

const asked = async ({ daemon }: ApiHouse, session = 'api:desk') =>
  (await daemon.operator.sessions.show(session)).events
    .filter(({ type }) => type === 'message.user' || type === 'user_message')
    .map(({ text }) => text)

describe('a request with an Idempotency-Key', () => {
  it('F-K08: that is sent again is answered as before and asks nothing again, also after a restart', async () => {
    const house = await startApiHouse()
    const { send } = await client(house)
    const first = await send('one')
    expect(first.json).toMatchObject({ status: 'ok', reply: 'echo hello' })
    expect(await send('one')).toMatchObject({ status: 200, json: first.json })
    await house.restart()
    expect(await send('one')).toMatchObject({ status: 200, json: first.json })
    expect(await asked(house)).toHaveLength(1)
    expect((await send('two')).json).not.toEqual(first.json)
    expect(await asked(house)).toHaveLength(2)
  })

  it('F-K08: twenty at once have one effect and one answer', async () => {
    const house = await startApiHouse()
    const { send, headers } = await client(house)
    const posts = await Promise.all(Array.from({ length: 20 }, () => send('one')))
    expect(new Set(posts.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(await asked(house)).toHaveLength(1)
    const starts = await Promise.all(Array.from({ length: 20 }, () => send('one', {}, '/v1/sessions')))
    expect(new Set(starts.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(starts[0]).toMatchObject({ status: 200, json: { id: expect.stringMatching(/^api:/) } })
    expect((await house.ask('/v1/sessions?inactive=true', { headers })).json).toMatchObject({ total: 2 })
  })

  it('F-K08: another body or session with its key is refused and does nothing', async () => {
    const house = await startApiHouse()
    const { send } = await client(house)
    await send('one')
    for (const [body, path] of [
      [{ ...WORDS, text: 'other' }, PATH],
      [{ ...WORDS, waitSeconds: 5 }, PATH],
      [WORDS, '/v1/sessions/api:other/messages'],
    ] as const) {
      expect(await send('one', body, path)).toMatchObject({
        status: 409,
        json: { error: { code: 'conflict', message: expect.stringContaining('Idempotency-Key') } },
      })
    }
    expect(await asked(house)).toHaveLength(1)
    await expect(house.daemon.operator.sessions.show('api:other')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('F-K08: a key is that of one token and one route', async () => {
    const house = await startApiHouse()
    const [one, two] = [await client(house), await client(house)]
    await one.send('key')
    await two.send('key')
    expect(await asked(house)).toHaveLength(2)
    expect(await one.send('key', { title: 'Desk' }, '/v1/sessions/api:desk/name')).toMatchObject({ status: 200 })
  })

  it.each([
    ['', 'empty'],
    ['two words', 'with a space'],
    ['ä', 'not ASCII'],
    ['x'.repeat(256), 'too long'],
  ])('F-K08: a key that is %j (%s) is refused by its name', async (key) => {
    const house = await startApiHouse()
    const { send } = await client(house)
    const { status, json } = await send(Buffer.from(key, 'utf8').toString('latin1'))
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { code: 'invalid', message: expect.stringContaining('Idempotency-Key') } })
    await expect(house.daemon.operator.sessions.show('api:desk')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('F-K08: a request that was refused had no effect, and its key is free', async () => {
    const house = await startApiHouse()
    const { send } = await client(house)
    expect((await send('one', { ...WORDS, sender: 'telegram:111' })).status).toBe(400)
    expect((await send('one')).json).toMatchObject({ status: 'ok' })
  })

  it('F-K08: a day later it is a new request', async () => {
    const clock = setClock('2026-11-21T09:30:00Z')
    const house = await startApiHouse({ clock })
    const { send } = await client(house)
    await send('one')
    clock.setBy(86_400_000)
    await send('one')
    expect(await asked(house)).toHaveLength(2)
  })

  it('F-K08: a token that was made is never shown again, and there is one', async () => {
    const house = await startApiHouse()
    const { headers } = await house.bearer({ owner: true, scopes: ['tokens', 'sessions:read'] })
    const make = () =>
      house.ask('/v1/tokens', { headers: { ...headers, 'idempotency-key': 'one' }, body: { namespace: 'api' } })
    const made = (await make()).json as { readonly token: string }
    expect(made.token).toMatch(/^ply_/)
    expect(await make()).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
    expect(await house.daemon.operator.tokens.list()).toHaveLength(2)
  })

  it('T20: a wait survives a connection that breaks: the same request finds the answer', async () => {
    const house = await startApiHouse()
    const { send } = await client(house)
    expect((await send('one', { ...WORDS, waitSeconds: 0 })).json).toMatchObject({ status: 'accepted' })
    await house.daemon.operator.sessions.post('api:desk', { text: 'behind it' })
    expect((await send('one', { ...WORDS, waitSeconds: 0 })).json).toMatchObject({ status: 'ok', reply: 'echo hello' })
    expect(await asked(house)).toHaveLength(2)
  })

  it('F-K08: words that were forgotten are in no kept answer', async () => {
    const house = await startApiHouse()
    const { send } = await client(house)
    await send('post', { ...WORDS, text: 'the secret word is xylophone' })
    expect((await send('name', { title: 'Desk' }, '/v1/sessions/api:desk/name')).text).toContain('xylophone')
    await house.daemon.operator.sessions.delete('api:desk')
    expect(await send('name', { title: 'Desk' }, '/v1/sessions/api:desk/name')).toMatchObject({ status: 409 })
    expect((await send('post', { ...WORDS, text: 'the secret word is xylophone' })).text).not.toContain('echo')
  })
})
