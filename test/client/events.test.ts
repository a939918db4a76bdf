import { expect, it } from 'vitest'
import { ApiError } from '../../src/client/call.ts'
import { type FollowOptions, followEvents } from '../../src/client/events.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { type StreamRig, streamRig } from '../http/stream-rig.ts'
import { userMessage } from '../store/sample-rows.ts'
import { removeTempFolders } from '../store/temp-database.ts'

removeTempFolders()

async function withLog(rig: StreamRig, id: SessionId, from: number, to: number): Promise<void> {
  for (let no = from; no <= to; no++) await rig.append(id, userMessage(`message ${no}`))
}

/** Follows a session by a `fetch` whose streams pass through `change`; every wait is over at once. */
function follow(
  rig: StreamRig,
  name: string,
  options: FollowOptions,
  change: (text: string) => string = (text) => text,
) {
  const asked: string[] = []
  const passing: typeof fetch = async (input, init) => {
    asked.push(String(input).slice(rig.base.length))
    const response = await fetch(input, init)
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
      return response
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        transform: (text, to) => to.enqueue(change(text)),
      }),
    )
    return new Response(body.pipeThrough(new TextEncoderStream()), response)
  }
  const token = rig.bearer.authorization.slice('Bearer '.length)
  const deps = { fetch: passing, baseUrl: rig.base, token, wait: async () => {} }
  return { events: followEvents(deps, name, options), asked }
}

async function take(events: AsyncGenerator<{ readonly seq: number }>, count: number): Promise<readonly unknown[]> {
  const found: unknown[] = []
  while (found.length < count) {
    const { value, done } = await events.next()
    if (done) throw new Error(`It ended behind ${found.length} events.`)
    found.push(value)
  }
  return found
}

it('C7: a gap is noticed by its numbers and filled from the history, in order, nothing twice', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  await withLog(rig, id, 1, 2)
  // The frames of the events 4 to 453 are lost on the way, which are several pages of the history.
  const lost = (text: string) =>
    text.replaceAll(/id: (\d+)-\S+\ndata: .*\n\n/g, (frame, no) => (no > 3 && no < 454 ? '' : frame))
  const stop = new AbortController()
  const { events, asked } = follow(rig, id, { after: 1, signal: stop.signal }, lost)
  const first = await take(events, 1)
  await withLog(rig, id, 3, 455)
  const rest = await take(events, 453)
  const all = [...(await rig.store.read.events.since(id, 1, 1_000))]
  expect([...first, ...rest].map((event) => (event as { seq: number }).seq)).toEqual(all.map(({ seq }) => seq))
  expect(rest.slice(-200)).toEqual(await rig.history(id))
  expect(asked.filter((path) => path.includes('/history'))).toHaveLength(3)
  stop.abort()
  expect(await events.next()).toEqual({ done: true, value: undefined })
})

it('C7, S17: a connection that breaks is made again behind the last event', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  let broken = 0
  const breaks = (text: string) => {
    if (text.includes('id: 5-') && broken++ < 3) throw new Error('the line is cut')
    return text
  }
  const { events, asked } = follow(rig, id, { after: 0 }, breaks)
  await withLog(rig, id, 1, 12)
  expect((await take(events, 12)).map((event) => (event as { seq: number }).seq)).toEqual(
    Array.from({ length: 12 }, (_, index) => index + 1),
  )
  expect(asked.length).toBeGreaterThan(3)
  await events.return(undefined)
})

it('what the daemon refuses is thrown, and its last word returned', async () => {
  const rig = await streamRig()
  const id = await rig.make({ id: 'cli:notes' as SessionId })
  await expect(follow(rig, 'cli:none', {}).events.next()).rejects.toMatchObject({ code: 'not_found', status: 404 })
  const { events: none } = follow(rig, 'cli:none', {})
  await expect(none.next()).rejects.toBeInstanceOf(ApiError)
  await expect(follow(rig, id, { after: 9 }).events.next()).rejects.toMatchObject({ code: 'too_old' })
  await expect(follow(rig, id, { after: 'x' }).events.next()).rejects.toMatchObject({ code: 'invalid' })
  const { events } = follow(rig, id, { after: 0 })
  await withLog(rig, id, 1, 1)
  await take(events, 1)
  const next = events.next()
  await rig.service.delete({ kind: 'operator' }, id)
  expect(await next).toEqual({ done: true, value: { reason: 'deleted', session: id } })
})

it('waits longer each time nothing answers, and begins anew once something was heard; a daemon that stops is asked again', async () => {
  const stopping = 'event: end\r\ndata: {"reason":"stopping"}\r\n\r\n'
  const answers = [
    ...Array.from({ length: 3 }, () => new Response('', { status: 503 })),
    new Response(stopping),
    new Response('event: end\ndata: {"reason":"revoked"}\n\n'),
  ]
  const waits: number[] = []
  const deps = {
    baseUrl: 'http://parley.test',
    fetch: async () => answers.shift() ?? Response.error(),
    wait: async (ms: number) => void waits.push(ms),
  }
  expect(await followEvents(deps, 'api:x').next()).toEqual({ done: true, value: { reason: 'revoked' } })
  expect(waits.map((ms) => Math.max(0, Math.ceil(Math.log2(ms / 500))))).toEqual([0, 1, 2, 0])
})

it('C7: an event that comes again is given once', async () => {
  const frame = (seq: number) => `id: ${seq}\ndata: {"seq":${seq}}\n\n`
  const body = `${[1, 2, 1, 2, 3].map(frame).join('')}event: end\ndata: {"reason":"revoked"}\n\n`
  const events = followEvents({ baseUrl: 'http://parley.test', fetch: async () => new Response(body) }, 'api:x')
  const seen: number[] = []
  for await (const { seq } of events) seen.push(seq)
  expect(seen).toEqual([1, 2, 3])
})

it('C7: behind a gap that was filled it connects again at the event that showed it', async () => {
  const frame = (seq: number) => `id: ${seq}-a@api:x\ndata: {"seq":${seq}}\n\n`
  const start = 'event: start\ndata: {"session":"api:x","after":0}\n\n'
  const places: (string | null)[] = []
  const streams = [`${start}${frame(1)}${frame(4)}`, 'event: end\ndata: {"reason":"revoked"}\n\n']
  const fetch = async (url: unknown, init?: { readonly headers?: unknown }) => {
    if (String(url).includes('/history')) return Response.json({ events: [{ seq: 2 }, { seq: 3 }] })
    places.push(new Headers(init?.headers as Record<string, string>).get('last-event-id'))
    return new Response(streams.shift())
  }
  const seen: number[] = []
  const deps = { baseUrl: 'http://parley.test', fetch: fetch as typeof globalThis.fetch, wait: async () => {} }
  for await (const { seq } of followEvents(deps, 'api:x', { after: 0 })) seen.push(seq)
  expect([seen, places]).toEqual([
    [1, 2, 3, 4],
    ['0', '4-a@api:x'],
  ])
})

it('C7: every character of a text arrives, those too that end a line elsewhere', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const text = 'a\u2028b\u2029c\u0085d\r\n\r\ne\n\n: f'
  await rig.append(id, userMessage(text))
  const { events } = follow(rig, id, { after: 0 })
  const [event] = await take(events, 1)
  expect(event).toMatchObject({ seq: 1, text: `111: ${text}` })
  await events.return(undefined)
})
