import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { telegramFormat } from '../adapters/telegram/format.ts'
import { systemClock } from '../src/core/clock.ts'
import { createIdSource, toAgentId } from '../src/core/ids.ts'
import { silentLogger } from '../src/core/logger.ts'
import { createEngine, type Engine } from '../src/engine.ts'
import { openMoves } from '../src/gate.ts'
import { openSqliteStore } from '../src/store/engines/sqlite.ts'
import type { Store, StoreWriter } from '../src/store/store.ts'
import { FakeChannel } from './delivery/fake-channel.ts'
import { direct, dispatchOf, message, routeFacts, user } from './fakes/dispatch.ts'
import { household, routingOf } from './fakes/routing-policy.ts'

const ADA = direct('111')

/** The stages on a real store and a platform in memory; the next `failures` transactions are undone. */
async function openEngine(): Promise<{ engine: Engine; channel: FakeChannel; store: Store & { failures: number } }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-engine-'))
  const real = await openSqliteStore({ path: join(folder, 'parley.db'), clock: systemClock })
  const store = {
    ...real,
    failures: 0,
    write: <T>(body: (tx: StoreWriter) => Promise<T>) =>
      real.write(async (tx) => {
        const result = await body(tx)
        if (store.failures > 0) {
          store.failures--
          throw new Error('the disk is full')
        }
        return result
      }),
  }
  const ids = createIdSource({ now: Date.now, randomBytes: (count) => new Uint8Array(count) })
  const channel = new FakeChannel(() => systemClock)
  const engine = createEngine({
    config: {
      agents: [{ id: toAgentId('main'), model: 'scripted/echo', prompt: '', tools: [] }],
      models: {},
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
    store,
    ids,
    clock: systemClock,
    random: () => 0,
    logger: silentLogger,
    accounts: {
      all: [],
      limits: () => ({ perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }),
      streams: () => true,
      format: () => telegramFormat,
    },
    routing: routingOf(household()),
    facts: { ...routeFacts(), watch: { decided() {}, ended() {} } },
    moves: await openMoves(
      { store, clock: systemClock, ids, logger: silentLogger, routing: routingOf(household()) },
      async () => {},
    ),
    commands: new Map(),
    tools: {},
    timing: {},
    adapter: () => channel,
  })
  onTestFinished(async () => {
    await engine.running.drain(0)
    await engine.delivery.stop()
    await real.close()
    rmSync(folder, { recursive: true })
  })
  return { engine, channel, store }
}

const said = (eventKey: string, text: string) =>
  dispatchOf(message({ eventKey, text, address: ADA, sender: user('111') }))

test('P7: a message that could not be stored is refused, and answered when it comes again', async () => {
  const { engine, channel, store } = await openEngine()
  store.failures = 1
  await expect(engine.pipeline.accept(said('e1', 'hello'))).rejects.toThrow('the disk is full')
  await engine.pipeline.accept(said('e1', 'hello'))
  await channel.called(1)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello'])
})

test('an answer that could not be stored is stored later, and sent once', async () => {
  const { engine, channel, store } = await openEngine()
  await engine.pipeline.accept(said('e1', 'hello'))
  store.failures = 2
  await channel.called(1)
  await engine.pipeline.accept(said('e2', 'again'))
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo again'])
})

test('S43: a message the platform gives twice is stored and answered once', async () => {
  const { engine, channel, store } = await openEngine()
  await Promise.all([engine.pipeline.accept(said('e1', 'hello')), engine.pipeline.accept(said('e1', 'hello'))])
  await engine.pipeline.accept(said('e2', 'last'))
  await channel.called(2)
  expect(channel.calls.map(({ text }) => text)).toEqual(['echo hello', 'echo last'])
  expect(await store.read.inbox.recent(10)).toHaveLength(2)
})
