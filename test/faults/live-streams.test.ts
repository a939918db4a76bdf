import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { followEvents, readFrames } from '../../src/client/events.ts'
import { mulberry } from './random.ts'
import { CASE, rounds, times } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const BASE = 'http://localhost'
const KILLS = times(12, 4)
const STALLED = 200
const GROWTH_MB = 50

/** Asks the daemon of a scene over its local socket. */
function fetchOf({ socketPath }: Scene): typeof fetch {
  const dispatcher = new Agent({ connect: { socketPath }, pipelining: 0 })
  return ((url: string | URL, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch
}

async function sessionOf(ask: typeof fetch, chat: number): Promise<string> {
  const list = (await (await ask(`${BASE}/v1/sessions?limit=200`)).json()) as {
    sessions: { id: string; key: string }[]
  }
  const found = list.sessions.find(({ key }) => key.includes(String(chat)))
  if (!found) throw new Error(`There is no session of ${chat}.`)
  return found.id
}

interface Taken {
  readonly session?: string
  readonly seq: number
}

/** Follows all sessions as a plain client does: it connects again with the id of the last event that it has. */
async function followAll(ask: typeof fetch, following: FollowingAll): Promise<void> {
  const { signal } = following
  while (!signal.aborted) {
    // A daemon that is down refuses, or cuts.
    await readStream(ask, following).catch(() => {})
    await pause(20, undefined, { signal }).catch(() => {})
  }
}

interface FollowingAll {
  readonly taken: Taken[]
  readonly place: { last?: string }
  readonly signal: AbortSignal
}

async function readStream(ask: typeof fetch, { taken, place, signal }: FollowingAll): Promise<void> {
  const headers = place.last === undefined ? {} : { 'last-event-id': place.last }
  const { ok, body } = await ask(`${BASE}/v1/events`, { headers, signal })
  if (!ok || body === null) return
  for await (const { event, id, data } of readFrames(body, () => {})) {
    if (id !== undefined) place.last = id
    if (event === 'message') taken.push(JSON.parse(data))
  }
}

/** Ada and Bob speak while the daemon is killed, or stopped, and started again. */
async function speakThroughKills(scene: Scene, random: () => number): Promise<void> {
  for (const kill of upTo(KILLS)) {
    for (const no of upTo(10)) {
      scene.telegram.world.say({ from: no % 2 === 0 ? ADA : BOB, text: `message ${kill}.${no}` })
      if (no === 5) await pause(random() * 100)
    }
    if (kill % 3 === 0) await scene.daemon.terminate()
    else expect(await scene.daemon.kill()).toEqual(KILLED)
    await scene.daemon.start()
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('live streams', CASE, () => {
  for (const round of rounds([1])) {
    it(`F-K09: ${KILLS} kills and stops under traffic: a stream resumed by its last id has no gap and no repeat`, async (test) => {
      const random = mulberry(Date.now() + round)
      const scene = await startScene(test, { model: 'scripted/echo' })
      const ask = fetchOf(scene)
      await scene.daemon.start()
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await scene.sent('hello', { chat: ADA })
      const session = await sessionOf(ask, ADA)
      const stop = new AbortController()
      const [one, all]: [Taken[], Taken[]] = [[], []]
      const wait = (): Promise<void> => pause(20, undefined, { signal: stop.signal }).catch(() => {})
      const following = (async () => {
        const events = followEvents({ fetch: ask, baseUrl: BASE, wait }, session, { after: 0, signal: stop.signal })
        for await (const event of events) one.push(event)
      })()
      const place: FollowingAll['place'] = {}
      const everything = followAll(ask, { taken: all, place, signal: stop.signal })
      // Both have begun: without a place a stream begins with what is to come.
      await expect.poll(() => one.length, { timeout: 30_000 }).toBeGreaterThan(0)
      await expect.poll(() => place.last, { timeout: 30_000 }).toBeDefined()

      await speakThroughKills(scene, random)
      await scene.settle([ADA, BOB])
      const { total } = (await (
        await ask(`${BASE}/v1/sessions/${encodeURIComponent(session)}/history?limit=1`)
      ).json()) as { total: number }
      await expect.poll(() => one.at(-1)?.seq, { timeout: 30_000 }).toBe(total)
      await expect
        .poll(() => all.filter((event) => event.session === session).at(-1)?.seq, { timeout: 30_000 })
        .toBe(total)
      stop.abort()
      await Promise.all([following, everything])

      expect(one.map(({ seq }) => seq)).toEqual(upTo(total))
      const own = all.filter((event) => event.session === session).map(({ seq }) => seq)
      expect(own).toEqual(upTo(total).slice(-own.length))
      expect(new Set(all.map(({ session: of, seq }) => `${of} ${seq}`)).size).toBe(all.length)
      await scene.finish()
    })

    it(`F-D03: ${STALLED} clients that stop reading are dropped, and the daemon does not grow by what they leave unread`, async (test) => {
      const scene = await startScene(test, { model: 'scripted/echo' })
      const ask = fetchOf(scene)
      await scene.daemon.start()
      await talk(scene, 'warm', 40)
      const session = await sessionOf(ask, ADA)
      const path = `/v1/sessions/${encodeURIComponent(session)}/events`
      // Each is answered before it stops reading, so all of them listen.
      const clients = await Promise.all(upTo(STALLED).map(() => stalled(scene.socketPath, path)))
      test.onTestFinished(() => {
        for (const client of clients) client.destroy()
      })
      const before = rss(scene)
      const most = await talk(scene, 'cold', 120)
      expect(most - before).toBeLessThanOrEqual(GROWTH_MB)

      const gone = clients.map((client) => closed(client.resume()))
      await Promise.all(gone)
      const { status } = await ask(`${BASE}${path}?after=0`, { signal: AbortSignal.timeout(10_000) })
      expect(status).toBe(200)
      await scene.finish()
    })
  }
})

/** Ada says long texts, each answered with as many; returns the most memory that the daemon had, in MB. */
async function talk(scene: Scene, word: string, count: number): Promise<number> {
  let most = 0
  for (let no = 1; no <= count; no++) {
    scene.telegram.world.say({ from: ADA, text: `${word} ${no} ${'x'.repeat(3_000)}` })
    await scene.sent(`${word} ${no} `, { chat: ADA })
    most = Math.max(most, rss(scene))
  }
  return most
}

function rss({ daemon }: Scene): number {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

/** Resolves once the daemon has dropped it, whatever was left to read. */
function closed(client: Socket): Promise<void> {
  return new Promise((resolve) => (client.destroyed ? resolve() : client.once('close', () => resolve())))
}

/** Asks for a stream, and reads its beginning and nothing more. */
async function stalled(socketPath: string, path: string): Promise<Socket> {
  const client = connect(socketPath)
  client.on('error', () => {})
  client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  await once(client, 'readable')
  return client
}
