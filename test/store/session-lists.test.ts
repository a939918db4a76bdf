import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { Namespace } from '../../src/core/caller.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SessionDraft } from '../../src/core/session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import type { PageQuery } from '../../src/store/list-port.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { SessionListReading } from '../../src/store/session-lists.ts'
import type { Sql, SqlValue } from '../../src/store/sql.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'
import { WHOLE } from '../sample.ts'
import { sessionDraft, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const HOUR = 3_600_000
const T0 = 500_000 * HOUR
const NAMES = [
  'api:shop:1',
  'api:shop:2',
  'api:other',
  'web:alice:x:y:z',
  'web:alice2',
  'telegram:a',
  'telegram:b',
  'plain',
  'telegram:main',
  'telegram:person',
]
/** What the sessions of older versions are that join chats of several channels. */
const JOINED: Readonly<Record<string, Partial<SessionDraft>>> = {
  'telegram:main': { kind: 'main', displayKey: 'main' },
  'telegram:person': { kind: 'other', displayKey: 'direct:ada' },
}
const PEOPLE = ['telegram:1', 'discord:2', 'slack:T1/3']

async function open(path: string, migrations = MIGRATIONS): Promise<Store> {
  return openSqliteStore({ path, clock: fixedClock(T0), migrations })
}

/** Some change of the sessions, by the number of a session, of a person and of a seventh of an hour. */
type Step = readonly [what: (typeof STEPS)[number], session: number, person: number, sevenths: number]
const STEPS = [
  'create',
  'task',
  'say',
  'say',
  'say',
  'end',
  'reopen',
  'point',
  'join',
  'join',
  'leave',
  'delete',
] as const

const TAKE: Readonly<Record<Step[0], (tx: StoreWriter, id: SessionId, at: Place) => Promise<unknown>>> = {
  create: async () => {},
  task: async () => {},
  say: (tx, id, { now }) => tx.events.append(id, now, [userMessage('hi')]),
  end: (tx, id, { now }) => tx.sessions.deactivate(id, now),
  reopen: (tx, id, { now }) => tx.sessions.reopen(id, {}, now),
  point: (tx, id) => tx.sessions.point(id),
  join: (tx, id, { now, person }) => tx.participants.add(id, PEOPLE[person] ?? '', now),
  leave: (tx, id) => tx.participants.remove(id),
  delete: async (tx, id, { now }) => {
    await tx.participants.remove(id)
    await tx.sessions.remove(id, now)
  },
}

interface Place {
  readonly now: number
  readonly person: number
}

async function take(store: Store, [what, at, person, sevenths]: Step): Promise<void> {
  const id = NAMES[at] as SessionId
  const now = T0 + Math.floor((sevenths * HOUR) / 7)
  const parent = what === 'task' ? { parent: NAMES[(at + 1) % NAMES.length] as SessionId } : {}
  await store.write(async (tx) => {
    if (await tx.sessions.get(id)) await TAKE[what](tx, id, { now, person })
    else if (what === 'create' || what === 'task')
      await tx.sessions.create(sessionDraft(at, { id, ...parent, ...JOINED[id] }), now)
  })
}

const QUERIES: readonly Omit<PageQuery, 'limit'>[] = [
  {},
  { namespace: 'api' as Namespace },
  { namespace: 'api:shop' as Namespace },
  { namespace: 'web:alice:x:y' as Namespace },
  { namespace: 'telegram' as Namespace },
  { participants: ['telegram:1'] },
  { participants: ['telegram:1', 'discord:2', 'nobody'] },
  { participants: [] },
].flatMap((list) => [
  { ...list, inactive: true },
  { ...list, inactive: false },
  { ...list, inactive: false, activeSince: T0 + HOUR },
  { ...list, inactive: false, activeSince: T0 + Math.floor((8 * HOUR) / 7) },
  { ...list, inactive: false, activeSince: T0 + Math.floor((8 * HOUR) / 7) + 1 },
])

/** Every page of a list must be what the rows say, and its total too. */
async function check(store: Store): Promise<void> {
  for (const query of QUERIES) {
    const rows = []
    for (let offset = 0; ; offset += 200) {
      const { sessions } = await store.read.sessions.list({ ...query, limit: 200, offset, parents: 'none' })
      rows.push(...sessions)
      if (sessions.length < 200) break
    }
    const expected = rows.map(({ id }) => id)
    for (const limit of [1, 3, 200]) {
      const found: string[] = []
      let page = await store.read.lists.page({ ...query, limit })
      found.push(...page.sessions.map(({ id }) => id))
      expect(page.total).toBe(expected.length)
      while (page.next) {
        page = await store.read.lists.page({ ...query, limit, after: page.next })
        expect(page.total).toBe(expected.length)
        found.push(...page.sessions.map(({ id }) => id))
      }
      expect(found).toEqual(expected)
      const second = await store.read.lists.page({ ...query, limit, offset: limit })
      expect(second.sessions.map(({ id }) => id)).toEqual(expected.slice(limit, 2 * limit))
    }
  }
  const all = await store.read.sessions.list({ limit: 1, offset: 0, inactive: true })
  expect(await store.read.lists.stored()).toBe(all.total)
}

/** A list that has nothing any more has no count, or hours that are long over would be kept for good. */
function checkCounts(path: string): void {
  withDatabase(path, (database) => {
    for (const table of ['session_counts', 'session_spans'])
      expect(database.prepare(`SELECT * FROM ${table} WHERE sessions <= 0`).all()).toEqual([])
  })
}

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(...STEPS),
  fc.nat({ max: NAMES.length - 1 }),
  fc.nat({ max: PEOPLE.length - 1 }),
  fc.nat({ max: 16 }),
)

it('R2: lists and their totals are what the rows say, after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const path = `${tempFolder()}/store.db`
      const store = await open(path)
      try {
        for (const one of steps) await take(store, one)
        await check(store)
      } finally {
        await store.close()
      }
      checkCounts(path)
    }),
    { numRuns: 15 },
  )
})

it('R2: an hour with thousands of sessions is paged in order, whoever asks', async () => {
  const store = await open(`${tempFolder()}/store.db`)
  onTestFinished(() => store.close())
  for (let first = 0; first < MANY; first += 500) await store.write((tx) => addMany(tx, first))
  for (const query of SEVERAL) for (const inactive of [true, false]) await comparePages(store, { ...query, inactive })
})

/** Rows of one hour; the list that pages are compared with is read anew for each of its pages. */
const MANY = WHOLE ? 5_000 : 2_500
const SEVERAL = [{}, { namespace: 'api' as Namespace }, { participants: ['telegram:1', 'discord:2'] }]

it('S12: the total is exact to the millisecond, in an hour with thousands of sessions too, whatever becomes of them', async () => {
  const path = `${tempFolder()}/store.db`
  const store = await open(path)
  onTestFinished(() => store.close())
  const counted = async () => {
    for (const list of SEVERAL)
      for (const since of [0, 30_000, 31_415, 39_999, HOUR - 1, HOUR]) {
        const query = { ...list, inactive: false, activeSince: T0 + since, limit: 200 }
        const rows = await store.read.sessions.list({ ...query, offset: 0, parents: 'none' })
        expect(await store.read.lists.page(query)).toMatchObject(rows)
      }
  }
  // Over two minutes of one hour, then some of them later in it, ended, opened again, in the next, and gone.
  for (let first = 0; first < 2_500; first += 500) await store.write((tx) => addMany(tx, first, 120_000))
  await counted()
  await store.write(async (tx) => {
    for (let at = 0; at < 2_500; at += 3) {
      const id = `${at % 2 === 0 ? 'api' : 'web'}:${at}` as SessionId
      const now = T0 + ((at * 104_729) % (at % 5 === 0 ? 2 * HOUR : 50_000))
      await TAKE[(['say', 'end', 'reopen', 'delete', 'say', 'leave', 'join'] as const)[at % 7] ?? 'say'](tx, id, {
        ...{ now, person: 0 },
      })
    }
  })
  await counted()
  for (let first = 0; first < 2_500; first += 500)
    await store.write(async (tx) => {
      for (let at = first; at < first + 500; at++) {
        const id = `${at % 2 === 0 ? 'api' : 'web'}:${at}` as SessionId
        if (await tx.sessions.get(id)) await TAKE.delete(tx, id, { now: T0, person: 0 })
      }
    })
  checkCounts(path)
})

async function addMany(tx: StoreWriter, first: number, within = 1_000): Promise<void> {
  for (let at = first; at < first + 500; at++) {
    const id = `${at % 2 === 0 ? 'api' : 'web'}:${at}` as SessionId
    await tx.sessions.create(sessionDraft(at, { id }), T0 + ((at * 7919) % within))
    if (at % 2 === 0) await tx.participants.add(id, 'telegram:1', T0)
    if (at % 3 === 0) await tx.participants.add(id, 'discord:2', T0)
    if (at % 7 === 0) await tx.sessions.deactivate(id, T0)
  }
}

async function comparePages(store: Store, query: Omit<PageQuery, 'limit'>): Promise<void> {
  const found: string[] = []
  let page = await store.read.lists.page({ ...query, limit: 200 })
  for (;;) {
    found.push(...page.sessions.map(({ id }) => id))
    if (!page.next) break
    page = await store.read.lists.page({ ...query, limit: 200, after: page.next })
  }
  const expected: string[] = []
  for (let offset = 0; offset < MANY; offset += 200) {
    const { sessions } = await store.read.sessions.list({ ...query, limit: 200, offset, parents: 'none' })
    expected.push(...sessions.map(({ id }) => id))
  }
  expect(page.total).toBe(expected.length)
  expect(found).toEqual(expected)
  const deep = await store.read.lists.page({ ...query, limit: 10, offset: 1_700 })
  expect(deep.sessions.map(({ id }) => id)).toEqual(expected.slice(1_700, 1_710))
}

it('R2: a page goes on behind a session that is gone, and leaves none out', async () => {
  const store = await open(`${tempFolder()}/store.db`)
  onTestFinished(() => store.close())
  for (const [at, moment] of [0, 1, 1, 1, 2].entries())
    await store.write((tx) => tx.sessions.create(sessionDraft(at, { id: `api:${at}` as SessionId }), T0 + moment))
  const query = { limit: 2, inactive: true }
  const first = await store.read.lists.page(query)
  expect(first.sessions.map(({ id }) => id)).toEqual(['api:4', 'api:3'])
  await store.write((tx) => TAKE.delete(tx, 'api:3' as SessionId, { now: T0, person: 0 }))
  const seen = []
  for (let after = first.next; after !== undefined; ) {
    const page = await store.read.lists.page({ ...query, after })
    seen.push(...page.sessions.map(({ id }) => id))
    after = page.next
  }
  expect(seen).toEqual(['api:2', 'api:1', 'api:0'])
})

it('a session of one list is found in another by the whole key, however many stand there', async () => {
  const path = `${tempFolder()}/store.db`
  await (await open(path)).close()
  const asked = new Map<string, readonly SqlValue[]>()
  const sql = {
    all: async (text: string, params: readonly SqlValue[]) => [...asked.set(text, params)].slice(asked.size),
    get: async () => ({ sessions: 1, by_span: 0 }),
  } as unknown as Sql
  const lists = new SessionListReading({ sql, logger: silentLogger, epoch: 1, caseSensitive: [] })
  await lists.page({ limit: 1, inactive: true, participants: PEOPLE })
  const connection = openConnection(path)
  const [text = '', params = []] = [...asked].find(([one]) => one.includes('AS twice')) ?? []
  const steps = connection.all(`EXPLAIN QUERY PLAN ${text}`, params).map(({ detail }) => String(detail))
  connection.close()
  expect(steps.find((step) => step.includes(' other '))).toContain('(list=? AND standing=? AND hour=? AND no=?)')
})

it('R2: a change that is undone changes no list', async () => {
  const store = await open(`${tempFolder()}/store.db`)
  onTestFinished(() => store.close())
  await take(store, ['create', 0, 0, 0])
  await expect(
    store.write(async (tx) => {
      await tx.events.append(NAMES[0] as SessionId, T0 + 9 * HOUR, [userMessage('hi')])
      await tx.participants.add(NAMES[0] as SessionId, 'telegram:1', T0)
      throw new Error('undone')
    }),
  ).rejects.toThrow('undone')
  await check(store)
})

it('R2: an older store has its lists after the upgrade', async () => {
  const path = `${tempFolder()}/store.db`
  const rows = [
    ['api:shop:1', null, 0, null],
    ['web:alice:x:y:z', null, 5, 6],
    ['api:shop:2', 'api:shop:1', 1, null],
    ['plain', null, 9, null],
  ] as const
  await (await open(path, MIGRATIONS.slice(0, 40)).catch(() => undefined))?.close()
  const old = openConnection(path)
  for (const [at, [id, parent, hours, ended]] of rows.entries()) {
    const { scope, source, metadata, ...draft } = sessionDraft(at)
    old.run(
      `INSERT INTO sessions (no, id, parent_id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata,
        created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1)`,
      [
        ...[at + 1, id, parent, draft.scopeKey, JSON.stringify(scope), draft.agentId, draft.kind, draft.displayKey],
        ...[draft.chatType, JSON.stringify(source), JSON.stringify(metadata)],
      ],
    )
    const activity = 'INSERT INTO session_activity (no, last_activity_at, inactive_at) VALUES ($1, $2, $3)'
    old.run(activity, [at + 1, T0 + hours * HOUR, ended])
    const member = 'INSERT INTO participants (session_id, participant, joined_at) VALUES ($1, $2, 1)'
    old.run(member, [id, PEOPLE[at % 2] ?? ''])
  }
  old.close()
  const store = await open(path)
  onTestFinished(() => store.close())
  await check(store)
  for (const one of [
    ['say', 0, 0, 12],
    ['delete', 3, 0, 0],
    ['end', 0, 0, 0],
    ['say', 7, 1, 90],
  ] as const)
    await take(store, one)
  await check(store)
})

it('S12: so are the totals of an older store with many sessions in an hour', async () => {
  const path = `${tempFolder()}/store.db`
  await (await open(path, MIGRATIONS.slice(0, 40)).catch(() => undefined))?.close()
  const { scope, agentId, kind, chatType, source } = sessionDraft(1)
  const old = openConnection(path)
  old.exec('BEGIN')
  for (let at = 0; at < 1_200; at++) {
    old.run(
      `INSERT INTO sessions (no, id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata, created_at)
        VALUES ($1, $2, $2, $3, $4, $5, $2, $6, $7, '{}', 1)`,
      [at + 1, `many:${at}`, JSON.stringify(scope), agentId, kind, chatType, JSON.stringify(source)],
    )
    old.run('INSERT INTO session_activity (no, last_activity_at) VALUES ($1, $2)', [at + 1, T0 + at * 100])
  }
  old.exec('COMMIT')
  old.close()
  const store = await open(path)
  onTestFinished(() => store.close())
  const total = async (ms: number) =>
    (await store.read.lists.page({ limit: 1, inactive: false, activeSince: T0 + ms })).total
  expect([await total(0), await total(55_555), await total(119_900), await total(119_901)]).toEqual([1_200, 644, 1, 0])
  await store.write((tx) => tx.events.append('many:0' as SessionId, T0 + 60_000, [userMessage('hi')]))
  expect([await total(1), await total(55_555), await total(60_001)]).toEqual([1_200, 645, 599])
})
