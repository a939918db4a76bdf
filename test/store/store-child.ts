import { writeSync } from 'node:fs'
import type { Caller } from '../../src/core/caller.ts'
import { createChannels } from '../../src/core/channel-traits.ts'
import { systemClock } from '../../src/core/clock.ts'
import { errorCode } from '../../src/core/errors.ts'
import type { HistoryBoundary } from '../../src/core/event.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { createSessionService } from '../../src/sessions/service/session-service.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { Store } from '../../src/store/store.ts'
import { assistantMessage, ids, sessionDraft, turnCompleted, userMessage } from './sample-rows.ts'

/** The process that crash tests start and kill: `<task> <database>`. Each line it prints is a fact on disk. */
const [task = '', path = ''] = process.argv.slice(2)

const say = (line: string): void => void writeSync(1, `${line}\n`)
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
const open = (): Promise<Store> => openSqliteStore({ path, clock: systemClock })

/** Appends without end from several sides, a line for each number once its promise has resolved. */
async function appendFrom(store: Store, sessionId: SessionId, text: string): Promise<void> {
  for (let no = 0; ; no++) {
    const seq = await store.write((tx) => tx.events.append(sessionId, no, [userMessage(`${text} ${no}`)]))
    say(`${seq} ${text} ${no}`)
  }
}

const OPERATOR: Caller = { kind: 'operator' }
const REPLACED: HistoryBoundary = {
  kind: 'replaced',
  exchanges: [
    { user: 'new one', assistant: 'answer one' },
    { user: 'new two', assistant: 'answer two' },
  ],
}

/** A session with two answered turns. */
async function withHistory(): Promise<{ readonly store: Store; readonly id: SessionId }> {
  const store = await open()
  const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  for (const text of ['old one', 'old two']) {
    const turnId = ids.turn()
    const started = { type: 'turn_started', turnId, data: { traceId: ids.trace() } } as const
    const answered = [assistantMessage(`echo ${text}`), turnCompleted].map((event) => ({ ...event, turnId }))
    await store.write((tx) => tx.events.append(id, 1, [userMessage(text), started, ...answered]))
  }
  return { store, id }
}

const tasks: Record<string, () => Promise<void>> = {
  /** Opens the store and keeps it. */
  async hold() {
    await open()
    say('open')
    setInterval(() => {}, 60_000)
  },
  async append() {
    const store = await open()
    const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
    await Promise.all(Array.from({ length: 8 }, (_, side) => appendFrom(store, id, 'x'.repeat(side * 50))))
  },
  /** Appends once and is dead before anything else can happen. */
  async appendOnce() {
    const store = await open()
    const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
    await store.write((tx) => tx.events.append(id, 1, [userMessage('last words')]))
    die()
  },
  /** Dies in a rewrite of the history, when all of it is written and nothing committed. */
  async rewriteUncommitted() {
    const { store, id } = await withHistory()
    await store.write(async (tx) => {
      await tx.events.append(id, 2, [{ type: 'history_boundary', data: REPLACED }])
      die()
    })
  },
  /** Rewrites the history as an operator does, and dies with the first commit. */
  async rewrite() {
    const { store, id } = await withHistory()
    const dying: Store = {
      ...store,
      epoch: store.epoch,
      read: store.read,
      close: () => store.close(),
      write: async (body) => {
        await store.write(body)
        return die()
      },
    }
    const service = createSessionService({
      channels: createChannels({}),
      store: dying,
      read: store.read,
      clock: systemClock,
      staleMs: Number.MAX_SAFE_INTEGER,
      mainIsShared: () => false,
      platformIds: async () => [],
      refusesAgent: () => undefined,
      refusesModel: () => undefined,
    })
    await service.setHistory(OPERATOR, id, REPLACED)
  },
  /** Saves a session again and again, its name and an event of the same number at once; a line for each save. */
  async save() {
    const store = await open()
    const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
    for (let no = 1; ; no++) {
      await store.write(async (tx) => {
        await tx.sessions.describe(id, `state ${no}`, 'user')
        await tx.events.append(id, no, [userMessage(`state ${no}, ${'x'.repeat(20_000)}`)])
        await tx.sessions.reopen(id, { state: String(no) }, no)
      })
      say(String(no))
    }
  },
  /** Dies in a save, when all of it is written and nothing committed. */
  async saveUncommitted() {
    const { store, id } = await withHistory()
    await store.write(async (tx) => {
      await tx.sessions.describe(id, 'new', 'user')
      await tx.sessions.reopen(id, { state: 'new' }, 9)
      await tx.events.append(id, 9, [userMessage('new')])
      die()
    })
  },
  /** Dies in the middle of a schema step. */
  async migrate() {
    const statements = ['CREATE TABLE half (x TEXT)', 'never']
    Object.defineProperty(statements, 1, { get: die })
    const dying = { version: MIGRATIONS.length + 1, name: 'dying', statements: () => statements }
    await openSqliteStore({ path, clock: systemClock, migrations: [...MIGRATIONS, dying] })
  },
  /**
   * Prepares more statements than a connection keeps while promises resolve, so that the engine collects some in
   * between.
   */
  async collect() {
    const connection = openConnection(path)
    for (let no = 0; no < 100_000; no++) {
      if (no % 50 === 0) connection.get(`SELECT ${no}`, [])
      await Promise.resolve({ no })
    }
    say('collected')
  },
  /** Writes until the disk takes no more, a line for each number on disk, then the error code. */
  async fill() {
    const store = await open()
    const { id } = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
    for (;;) {
      try {
        say(String(await store.write((tx) => tx.events.append(id, 1, [userMessage('x'.repeat(5_000))]))))
      } catch (error) {
        say(errorCode(error))
        process.exit(0)
      }
    }
  },
}

await tasks[task]?.()
