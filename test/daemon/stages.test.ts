import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { telegramFormat } from '../../adapters/telegram/format.ts'
import { Secret } from '../../src/config/secrets.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createIdSource, type SessionId, toAgentId } from '../../src/core/ids.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { FakeChannel } from '../delivery/fake-channel.ts'
import { direct, dispatchOf, message, user } from '../fakes/dispatch.ts'
import { type OpenedStages, openStages } from '../fakes/open-stages.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household } from '../fakes/routing-policy.ts'

const ADA = direct('111')

interface Opened {
  readonly engine: OpenedStages
  readonly channel: FakeChannel
  readonly store: Store & { failures: number; onFailure(): void }
}

/**
 * The stages on a real store and a platform in memory; the next `failures` transactions are undone. Without a model's
 * server the model is an echo.
 */
async function openEngine(anthropic?: AnthropicServer): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-engine-'))
  const real = await openSqliteStore({ path: readyDatabase(join(folder, 'parley.db')), clock: systemClock })
  const store = {
    ...real,
    failures: 0,
    onFailure() {},
    write: <T>(body: (tx: StoreWriter) => Promise<T>) =>
      real.write(async (tx) => {
        const result = await body(tx)
        if (store.failures > 0) {
          store.failures--
          store.onFailure()
          throw new Error('the disk is full')
        }
        return result
      }),
  }
  const ids = createIdSource({ now: Date.now, randomBytes })
  const channel = new FakeChannel(() => systemClock)
  const engine = await openStages({
    ...{ store, ids, channel },
    config: {
      agents: [
        { id: toAgentId('main'), model: anthropic ? 'anthropic/rehearsal' : 'scripted/echo', prompt: '', tools: [] },
      ],
      models: anthropic
        ? { anthropic: { kind: 'anthropic', apiKey: new Secret(anthropic.apiKey), baseUrl: anthropic.baseUrl } }
        : {},
      channels: {},
      down: [],
      schedules: [],
      routing: household(),
      session: { queue: { max: 10, busy: 'queue' } },
      store: { path: '' },
      logging: { level: 'info', pretty: false },
      scriptFolder: folder,
      dataDir: folder,
      warnings: [],
    },
    accounts: {
      all: [],
      limits: () => ({ perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }),
      streams: () => true,
      format: () => telegramFormat,
    },
  })
  onTestFinished(async () => {
    await engine.running.drain(0)
    await engine.delivery.stop(1_000)
    await real.close()
    rmSync(folder, { recursive: true })
  })
  return { engine, channel, store }
}

const said = (eventKey: string, text: string) =>
  dispatchOf(message({ eventKey, text, address: ADA, sender: user('111') }))

test('a message that could not be stored is refused, and answered when it comes again', async () => {
  const { engine, channel, store } = await openEngine()
  store.failures = 1
  await expect(engine.accept(said('e1', 'hello'))).rejects.toThrow('the disk is full')
  await engine.accept(said('e1', 'hello'))
  await channel.called(1)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello'])
})

test('a message that shares its commit with one that could not be stored is answered', async () => {
  const { engine, channel, store } = await openEngine()
  await engine.accept(said('e1', 'hello'))
  await channel.called(1)
  store.failures = 1
  const both = [engine.accept(said('e2', 'lost')), engine.accept(said('e3', 'kept'))]
  expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }])
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo kept'])
  const { id } = (await store.read.sessions.resolve('telegram:direct:111')) ?? { id: 'none' as SessionId }
  expect(await store.read.participants.of(id)).toHaveLength(1)
})

test('an answer that could not be stored is stored later, and sent once', async () => {
  const { engine, channel, store } = await openEngine()
  await engine.accept(said('e1', 'hello'))
  store.failures = 2
  await channel.called(1)
  await engine.accept(said('e2', 'again'))
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo again'])
})

test('what is said while an answer waits to be stored waits behind it', async () => {
  const { engine, channel, store } = await openEngine()
  await engine.accept(said('e1', 'hello'))
  const failed = new Promise<void>((resolve) => {
    store.onFailure = resolve
  })
  store.failures = 1
  await failed
  await engine.accept(said('e2', 'again'))
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo again'])
})

test('S43: a message the platform gives twice is stored and answered once', async () => {
  const { engine, channel, store } = await openEngine()
  await Promise.all([engine.accept(said('e1', 'hello')), engine.accept(said('e1', 'hello'))])
  await engine.accept(said('e2', 'last'))
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo last'])
  expect(await store.read.inbox.recent(10)).toHaveLength(2)
})

test('a turn that was stopped while the daemon stops has ended; one that was only interrupted goes on later', async () => {
  const gate = createGate()
  const anthropic = await startAnthropicServer({
    script: () => textReply('too late', { holds: [{ beforeDelta: 0, gate }] }),
  })
  onTestFinished(() => anthropic.close())
  const { engine, store } = await openEngine(anthropic)
  await engine.accept(said('e1', 'hello'))
  const bob = { address: direct('444'), sender: user('444') }
  await engine.accept(dispatchOf(message({ eventKey: 'e2', text: 'and me', ...bob })))
  const [first, second] = await store.read.turns.running()
  if (!first || !second) throw new Error('nothing runs')
  const stopped = engine.running.abort(first.sessionId)
  const drained = engine.running.drain(0)
  await Promise.all([stopped, drained])
  expect((await store.read.turns.get(first.id))?.state).toBe('cancelled')
  expect(await store.read.turns.running()).toMatchObject([{ id: second.id }])
})

test('K25, K27: a key its caller gives leads to the session of the chat it names, which took over what was said before', async () => {
  const { engine, channel, store } = await openEngine()
  const byKey = (eventKey: string, text: string, callerKey: string) =>
    engine.accept({ ...said(eventKey, text), origin: 'operator', callerKey })
  await byKey('e1', 'long ago', 'agent:main:telegram:direct:111')
  await channel.called(1)
  await engine.accept(said('e2', 'today'))
  await byKey('e3', 'by its name', ' Agent:main:Telegram:direct:111')
  const session = await store.read.sessions.resolve('telegram:direct:111')
  const events = await store.read.events.since(session?.id ?? ('none' as SessionId), 0, 100)
  const texts = events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
  expect(texts).toEqual(['long ago', 'today', 'by its name'])
  expect(await store.read.sessions.resolve('agent:main:telegram:direct:111')).toMatchObject({ id: session?.id })
})
