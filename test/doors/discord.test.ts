import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../adapters/discord/connection/client.ts'
import { pagesOf } from '../../adapters/discord/inbound/back-fill.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DOORS } from '../../src/core/doors.ts'
import { measureJson } from '../../src/core/read-json.ts'
import { openRig } from '../adapters/discord/rig.ts'
import { RecordingLogger } from '../adapters/telegram/recording-logger.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A list of `count` empty objects, each of which is two values. */
const emptyObjects = (count: number): unknown[] => Array.from({ length: count }, () => ({}))
const id = (number: number): string => String(1_400_000_000_000_000_000n + BigInt(number))

/** A server as large as Discord lets it become, with what this bot's intents show of it. */
function largestGuild(guildId: string) {
  const permission_overwrites = Array.from({ length: 100 }, (_, at) => ({
    id: id(at),
    ...{ type: 0, allow: '2199023255551', deny: '1024' },
  }))
  const user = { id: id(1), username: 'x'.repeat(32), global_name: 'x'.repeat(32), avatar: 'a'.repeat(32), bot: false }
  const channels = Array.from({ length: 500 }, (_, at) => ({
    ...{ id: id(1000 + at), type: 0, name: `channel-${at}`, topic: 'x'.repeat(1024), position: at, flags: 0 },
    ...{ parent_id: null, last_message_id: id(at), rate_limit_per_user: 0, nsfw: false, permission_overwrites },
  }))
  const thread_metadata = { archived: false, auto_archive_duration: 60, archive_timestamp: '2026-01-01', locked: false }
  const threads = Array.from({ length: 1000 }, (_, at) => ({
    ...{ id: id(5000 + at), type: 11, name: `thread-${at}`, parent_id: id(1000), owner_id: id(1), message_count: 5 },
    ...{ last_message_id: id(at), member_count: 9, rate_limit_per_user: 0, flags: 0, thread_metadata },
  }))
  const roles = Array.from({ length: 250 }, (_, at) => ({
    ...{ id: id(at), name: 'x'.repeat(100), color: 1, hoist: true, icon: null, unicode_emoji: null, position: at },
    ...{ permissions: '2199023255551', managed: false, mentionable: false, flags: 0, colors: { primary_color: 1 } },
  }))
  const emojis = Array.from({ length: 500 }, (_, at) => ({
    ...{ id: id(at), name: 'x'.repeat(32), roles: [], animated: false, available: true, managed: false },
  }))
  const voice_states = Array.from({ length: 3000 }, (_, at) => ({
    ...{ user_id: id(at), channel_id: id(1000), session_id: 'a'.repeat(32), deaf: false, mute: false, suppress: false },
    ...{ self_deaf: false, self_mute: true, self_video: false, request_to_speak_timestamp: null },
  }))
  const members = voice_states.map(() => ({
    user,
    roles: [id(1), id(2)],
    joined_at: '2026-01-01',
    deaf: false,
    flags: 0,
  }))
  return { id: guildId, name: 'Largest', channels, threads, roles, emojis, voice_states, members, presences: [] }
}

describe('door platformFrame: a frame of the gateway, which the library would parse by itself', () => {
  async function listening() {
    const logger = new RecordingLogger()
    const rig = await openRig({ logger })
    closing.push(() => rig.close())
    await rig.listen()
    const { gateway, world } = rig.server
    const say = (text: string) => world.say({ from: rig.ada, channel: rig.channel, text })
    return { ...rig, gateway, say, logger }
  }

  test.each([
    ['values', () => emptyObjects(DOORS.platformFrame.values)],
    ['bytes', () => 'x'.repeat(DOORS.platformFrame.bytes)],
  ])('one with too many %s is left out, logged and counted; the session stays and the next is taken', async (_, d) => {
    const { gateway, say, sink, adapter, logger } = await listening()
    gateway.raw({ op: 0, t: 'GUILD_CREATE', s: 1, d: { id: id(1), channels: d() } })
    say('next')
    await sink.until(() => sink.texts.includes('next'))

    expect([sink.texts, sink.dropped]).toEqual([['next'], ['gateway:too_long']])
    expect(logger.lines.filter(({ sentence }) => /larger than is read/.test(sentence))).toHaveLength(1)
    expect(adapter.health().status).toBe('up')
  })

  test('the largest server that there can be passes, with room to spare', async () => {
    const { gateway, say, sink } = await listening()
    const guild = largestGuild(id(77))
    const text = JSON.stringify(guild)
    expect(measureJson(text, { values: DOORS.platformFrame.values }).values).toBeLessThan(
      DOORS.platformFrame.values * 0.9,
    )
    expect(text.length).toBeLessThan(DOORS.platformFrame.bytes / 2)
    gateway.raw({ op: 0, t: 'GUILD_CREATE', s: 1, d: guild })
    say('next')
    await sink.until(() => sink.texts.includes('next'))

    expect([sink.texts, sink.dropped]).toEqual([['next'], []])
  })
})

describe('door platformAnswer: an answer of the REST API', () => {
  async function serverOf(page: (limit: number) => string) {
    const limits: number[] = []
    const server = createServer((request, response) => {
      request.resume()
      const limit = Number(new URL(request.url ?? '', 'http://x').searchParams.get('limit') ?? 0)
      limits.push(limit)
      response.writeHead(200, { 'content-type': 'application/json' }).end(page(limit))
    })
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
    const client = createClient({ token: 'x', apiRoot, clock: systemClock })
    closing.push(() => client.close())
    return { client, limits }
  }

  const { signal } = new AbortController()

  test.each([
    ['values', () => JSON.stringify(emptyObjects(DOORS.platformAnswer.values))],
    ['bytes', () => JSON.stringify('x'.repeat(DOORS.platformAnswer.bytes))],
    ['levels', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('one with too many %s fails in words about the bound, and is no stranger', async (named, body) => {
    const { client } = await serverOf(body)
    const outcome = await client.call({ verb: 'GET', path: '/users/@me' }, { signal, deadlineMs: 10_000 })

    expect(outcome).toMatchObject({ kind: 'failed', tooLong: true, reason: expect.stringContaining(named) })
    expect(JSON.stringify(outcome)).not.toContain('apiRoot')
  })

  test('a page of a history that is too large is asked for in a smaller one', async () => {
    const embeds = emptyObjects(DOORS.platformAnswer.values / 200)
    const { client, limits } = await serverOf((limit) =>
      JSON.stringify(Array.from({ length: limit }, (_, at) => ({ id: id(at + 1), channel_id: id(0), embeds }))),
    )
    const page = await pagesOf({ client, signal }, id(0)).read(id(0), 200)

    expect(limits).toEqual([100, 50])
    expect(page).toMatchObject({ further: 'more', messages: { length: 50 } })
  })
})
