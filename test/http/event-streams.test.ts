import { expect, it } from 'vitest'
import type { SessionId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createLiveHub } from '../../src/sessions/service/live-events.ts'
import { assistantMessage, sessionDraft, userMessage } from '../store/sample-rows.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { type StreamRig, streamRig } from './stream-rig.ts'

removeTempFolders()

async function withLog(rig: StreamRig, id: SessionId, from: number, to: number): Promise<void> {
  for (let no = from; no <= to; no++) await rig.append(id, userMessage(`message ${no}`))
}

const pathOf = (name: string): string => `/v1/sessions/${encodeURIComponent(name)}/events`
/** Returns the number in the id of an event, which is its whole place. */
const numberOf = ({ id }: { readonly id: string | undefined }) => id?.split('-', 1)[0]
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

it('S16: the history, the backlog of a stream and two clients that listen agree on the events', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const first = await rig.open(`${pathOf(id)}?after=0`)
  const second = await rig.open(pathOf(id))
  await withLog(rig, id, 1, 3)
  await rig.append(id, assistantMessage('<NO_REPLY>'))
  const [live, other] = [await first.events(4), await second.events(4)]
  const backlog = await (await rig.open(`${pathOf(id)}?after=0`)).events(4)
  expect(live).toEqual(other)
  expect(live).toEqual(backlog)
  expect(live.map(({ data }) => data)).toEqual(await rig.history(id))
})

it('S17, C6: a client that connects again with its last id gets the later events and no others, numbered on', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  await withLog(rig, id, 1, 120)
  const again = await rig.open(pathOf(id), { headers: { 'Last-Event-ID': '7' } })
  await withLog(rig, id, 121, 130)
  expect((await again.events(123)).map(numberOf)).toEqual(numbers(8, 130))
  // The header goes before the query of the first connection.
  const both = await rig.open(`${pathOf(id)}?after=3`, { headers: { 'Last-Event-ID': '129' } })
  expect((await both.events(1)).map(numberOf)).toEqual(['130'])
})

it('S17: readers that connect while events are committed miss none and get none twice', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const writing = withLog(rig, id, 1, 300)
  const readers = await Promise.all(
    Array.from({ length: 12 }, async () => (await rig.open(`${pathOf(id)}?after=0`)).events(300)),
  )
  await writing
  for (const events of readers) expect(events.map(numberOf)).toEqual(numbers(1, 300))
})

it('a stream without a place begins with what is to come, and says where', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  await withLog(rig, id, 1, 4)
  const stream = await rig.open(pathOf(id))
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': expect.stringContaining('no-cache'),
    'x-accel-buffering': 'no',
  })
  const begun = { event: 'start', id: expect.stringMatching(/^4-/), data: JSON.stringify({ session: id, after: 4 }) }
  expect(await stream.next()).toEqual(begun)
  await withLog(rig, id, 5, 5)
  expect((await stream.events(1)).map(numberOf)).toEqual(['5'])
})

it.each(['x', '-1', '1.5', '1@', '9'.repeat(30), '1-zz@', '5, 6'])(
  'a place that is none, %j, is refused by the name of the value',
  async (place) => {
    const rig = await streamRig()
    const id = await rig.make()
    const byHeader = await rig.open(pathOf(id), { headers: { 'Last-Event-ID': place } })
    expect(byHeader.status).toBe(400)
    expect(await byHeader.text()).toContain('Last-Event-ID')
    const byQuery = await rig.open(`${pathOf(id)}?after=${encodeURIComponent(place)}`)
    expect(byQuery.status).toBe(400)
    expect(await byQuery.text()).toContain('after')
  },
)

it('a place behind the end of the log cannot be resumed: too old, and nothing else', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  await withLog(rig, id, 1, 3)
  const stream = await rig.open(pathOf(id), { headers: { 'Last-Event-ID': '4' } })
  expect(stream.status).toBe(410)
  expect(JSON.parse(await stream.text())).toMatchObject({ error: { code: 'too_old' } })
})

it('a session that is not there, or not the token’s, is not found', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const { token } = await rig.newToken({ namespace: 'web:alice', scopes: ['sessions:read'] })
  for (const name of [id, 'telegram:2026-01-01-ffffffff']) {
    const stream = await rig.open(pathOf(name), { token })
    expect(stream.status).toBe(404)
  }
})

it('a name that leads to another session by now: the rest of the old one, then its end, which names the other', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const session = await rig.store.read.sessions.get(id)
  if (!session) throw new Error('it was made')
  await withLog(rig, id, 1, 2)
  const live = await rig.open(`${pathOf(session.scopeKey)}?after=0`)
  const [first] = await live.events(2)
  const next = await rig.make({ scopeKey: session.scopeKey, displayKey: session.displayKey })
  const ended = { event: 'end', data: JSON.stringify({ reason: 'succeeded', session: id, successor: next }) }
  expect(await live.next()).toEqual(ended)
  expect(await live.next()).toBeUndefined()
  await withLog(rig, next, 1, 9)
  const again = await rig.open(pathOf(session.scopeKey), { headers: { 'Last-Event-ID': first?.id ?? '' } })
  expect((await again.events(1))[0]).toMatchObject({ data: { seq: 2, text: expect.stringContaining('message 2') } })
  expect(await again.next()).toEqual(ended)
})

it('a session that is deleted ends its streams, and its places are those of no other of its name', async () => {
  const rig = await streamRig()
  const id = await rig.make({ id: 'cli:notes' as SessionId })
  await withLog(rig, id, 1, 2)
  const all = await rig.open('/v1/events')
  const stream = await rig.open(pathOf(id))
  await stream.next()
  await all.next()
  await withLog(rig, id, 3, 3)
  const [last] = await all.events(1)
  const [own] = await stream.events(1)
  await rig.service.delete({ kind: 'operator' }, id)
  expect(await stream.next()).toEqual({ event: 'end', data: JSON.stringify({ reason: 'deleted', session: id }) })
  expect(await all.next()).toEqual({ event: 'deleted', data: JSON.stringify({ session: id }) })
  const again = await rig.make({ id: 'cli:notes' as SessionId })
  rig.clock.advance(1)
  await withLog(rig, again, 1, 5)
  expect((await all.events(5)).map(({ data }) => (data as { seq: number }).seq)).toEqual([1, 2, 3, 4, 5])
  const resumed = await rig.open('/v1/events', { headers: { 'Last-Event-ID': last?.id ?? '' } })
  expect(resumed.status).toBe(410)
  // The stream of the session alone has its number in the new log as well.
  const alone = await rig.open(pathOf(id), { headers: { 'Last-Event-ID': own?.id ?? '' } })
  expect(alone.status).toBe(410)
})

it('S42: one stream has all sessions of a caller, in the order of their commits, and is resumed exactly', async () => {
  const rig = await streamRig()
  const [ada, bob] = [
    await rig.make({ id: 'web:alice:1' as SessionId }),
    await rig.make({ id: 'web:alice2:1' as SessionId }),
  ]
  const { token } = await rig.newToken({ namespace: 'web:alice', scopes: ['sessions:read'] })
  const [owner, alice] = [await rig.open('/v1/events'), await rig.open('/v1/events', { token })]
  for (let no = 1; no <= 70; no++) {
    await withLog(rig, ada, no, no)
    await withLog(rig, bob, no, no)
  }
  const everything = await owner.events(140)
  const own = await alice.events(70)
  expect(everything.map(({ data }) => (data as { session: string }).session).slice(0, 4)).toEqual([ada, bob, ada, bob])
  expect(new Set(own.map(({ data }) => (data as { session: string }).session))).toEqual(new Set([ada]))
  const at = everything[9]?.id ?? ''
  const resumed = await rig.open('/v1/events', { headers: { 'Last-Event-ID': at } })
  expect(await resumed.events(130)).toEqual(everything.slice(10))
  // Another's place opens nothing.
  const foreign = await rig.open('/v1/events', { token, headers: { 'Last-Event-ID': at } })
  expect(foreign.status).toBe(410)
})

it('S16, S42: 0 is the place before the first event of every stream, for what the token may see', async () => {
  const rig = await streamRig()
  const [ada, bob] = [
    await rig.make({ id: 'web:alice:1' as SessionId }),
    await rig.make({ id: 'web:alice2:1' as SessionId }),
  ]
  const { token } = await rig.newToken({ namespace: 'web:alice', scopes: ['sessions:read'] })
  const before = await rig.open('/v1/events?after=0')
  await withLog(rig, bob, 1, 3)
  await withLog(rig, ada, 1, 2)
  const all = await before.events(5)
  expect(all.map(({ data }) => (data as { session: string }).session)).toEqual([bob, bob, bob, ada, ada])
  const asked = [{ path: '/v1/events?after=0' }, { path: '/v1/events', headers: { 'Last-Event-ID': '0' } }]
  for (const { path, headers = {} } of asked) {
    expect(await (await rig.open(path, { headers })).events(5)).toEqual(all)
    expect(await (await rig.open(path, { headers, token })).events(2)).toEqual(all.slice(3))
    const alone = await rig.open(path.replace('/v1/events', pathOf(bob)), { headers })
    expect((await alone.events(3)).map(numberOf)).toEqual(numbers(1, 3))
  }
})

it('S17: a reader of all sessions that has seen nothing yet connects again and misses nothing', async () => {
  const rig = await streamRig()
  const stream = await rig.open('/v1/events')
  expect(await stream.next()).toEqual({ event: 'start', id: '0', data: '{}' })
  await withLog(rig, await rig.make(), 1, 2)
  const again = await rig.open('/v1/events', { headers: { 'Last-Event-ID': '0' } })
  expect((await again.events(2)).map(numberOf)).toEqual(['1', '2'])
})

it('S17: 0 is the place before the oldest event there is, however many have been deleted since', async () => {
  const rig = await streamRig()
  await withLog(rig, await rig.make(), 1, 2)
  const { events } = rig.store.read
  const [deleted, asked]: [number, number[]] = [1_000_000, []]
  const moved = Object.create(events, {
    stored: {
      value: async (after: number, limit: number) => {
        asked.push(after)
        const found = await events.stored(Math.max(0, after - deleted), limit)
        return found.map((one) => ({ ...one, place: one.place + deleted }))
      },
    },
    newest: { value: async () => ({ ...(await events.newest()), place: 2 + deleted }) },
  })
  const deps = { clock: rig.clock, logger: silentLogger, sessions: rig.service }
  const hub = createLiveHub({ ...deps, read: { ...rig.store.read, events: moved } })
  const followed = await hub.of({ kind: 'operator' }).followAll({ after: { seq: 0 }, texts: false })
  expect(followed).toMatchObject({ close: expect.any(Function) })
  followed.close()
  hub.stop()
  expect(asked).toEqual([0])
})

it.each(['57', '-1', '0.0', '+0', 'x', '0x0', '0 ', ' '])(
  'a place in the stream of all sessions that names no session, %j, is refused',
  async (place) => {
    const rig = await streamRig()
    await withLog(rig, await rig.make(), 1, 3)
    const byQuery = await rig.open(`/v1/events?after=${encodeURIComponent(place)}`)
    expect([byQuery.status, await byQuery.text()]).toEqual([400, expect.stringContaining('invalid')])
    if (place.trim() !== place) return
    const byHeader = await rig.open('/v1/events', { headers: { 'Last-Event-ID': place } })
    expect([byHeader.status, await byHeader.text()]).toEqual([400, expect.stringContaining('invalid')])
  },
)

it('F-H10: a token that is revoked ends its streams at once, and no further row arrives', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const { token, id: tokenId } = await rig.newToken({ owner: true, scopes: ['sessions:read'] })
  const streams = [await rig.open(pathOf(id), { token }), await rig.open('/v1/events', { token })]
  const others = await rig.open(pathOf(id))
  for (const stream of streams) await stream.next()
  await rig.tokens.operator.revoke(tokenId)
  await withLog(rig, id, 1, 1)
  for (const stream of streams) {
    expect(await stream.next()).toEqual({ event: 'end', data: JSON.stringify({ reason: 'revoked' }) })
    expect(await stream.next()).toBeUndefined()
  }
  expect((await others.events(1)).map(numberOf)).toEqual(['1'])
  expect((await rig.open(pathOf(id), { token })).status).toBe(401)
})

it('a daemon that stops ends every stream at once and says when to come again', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const stream = await rig.open(pathOf(id))
  const whole = await rig.open(pathOf(id))
  await stream.next()
  await withLog(rig, id, 1, 1)
  await stream.events(1)
  rig.hub.stop()
  expect(await stream.next()).toEqual({ event: 'end', data: JSON.stringify({ reason: 'stopping' }) })
  expect(await whole.text()).toContain('retry: 1000\nevent: end')
  const refused = await rig.open(pathOf(id))
  expect(refused.status).toBe(503)
  await rig.api.close()
})

it('a silent stream has a comment every 15 s, and no limit of the server ends it', async () => {
  const rig = await streamRig({ silent: 200, idle: 100, headers: 100, request: 100 })
  const id = await rig.make()
  const stream = await rig.open(pathOf(id))
  const idle = await rig.open('/v1/sessions/x/events', { token: 'wrong' })
  await stream.next()
  // A connection of the same age that may be ended has ended.
  await idle.text()
  let heard = ''
  stream.response.on('data', (piece) => (heard += piece))
  await rig.clock.timerOf(15_000)
  rig.clock.advance(15_000)
  await expect.poll(() => heard).toBe(':\n\n')
  rig.clock.advance(15_000)
  await expect.poll(() => heard).toBe(':\n\n:\n\n')
})

it('a token that expires ends its streams, and HEAD opens none', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const { token } = await rig.newToken({ owner: true, scopes: ['sessions:read'], days: 1 })
  const stream = await rig.open(pathOf(id), { token })
  await stream.next()
  const head = await fetch(rig.base + pathOf(id), { method: 'HEAD', headers: { authorization: `Bearer ${token}` } })
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(await head.text()).toBe('')
  rig.clock.advance(86_400_000)
  expect(await stream.next()).toEqual({ event: 'end', data: JSON.stringify({ reason: 'revoked' }) })
})

it('a token has so many streams and no more', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const live = rig.hub.of({ kind: 'operator' })
  const ended = new AbortController().signal
  const open = await Promise.all(Array.from({ length: 1_024 }, () => live.follow(id, { texts: false, ended })))
  await expect(live.follow(id, { texts: false, ended })).rejects.toMatchObject({ code: 'too_many' })
  await live.follow(id, { texts: false })
  open[0]?.close()
  await live.follow(id, { texts: false, ended })
})

it('S42: the token of a channel follows no session of an older version that joins chats of several channels', async () => {
  const rig = await streamRig()
  const [joined, own] = ['telegram:2026-01-01-0a1b2c3d', 'telegram:2026-01-01-0a1b2c3e'].map((id) => id as SessionId)
  await rig.store.write(async (tx) => {
    await tx.sessions.create(
      sessionDraft(71, { id: joined ?? expect.unreachable(), kind: 'main', displayKey: 'main' }),
      1,
    )
    await tx.sessions.create(sessionDraft(72, { id: own ?? expect.unreachable() }), 1)
  })
  const { token } = await rig.newToken({ namespace: 'telegram', scopes: ['sessions:read'] })
  const stream = await rig.open('/v1/events', { token })
  await rig.append(joined ?? expect.unreachable(), userMessage('said in Discord'))
  await rig.append(own ?? expect.unreachable(), userMessage('said in Telegram'))
  expect((await stream.events(1)).map(({ data }) => data)).toMatchObject([{ text: '111: said in Telegram' }])
})
