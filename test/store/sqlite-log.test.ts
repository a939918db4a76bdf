import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { type ScopeKey, type SessionId, toAccountId } from '../../src/core/ids.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { makeSession } from '../contracts/store/under-test.ts'
import { sessionDraft, turnOf, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

/** The log of a session on a real file. */
describe('the log on disk', () => {
  let path: string
  let store: Store
  const warnings: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (_sentence, fields) => void warnings.push(fields) }
  const open = (file: string): Promise<Store> => openSqliteStore({ path: file, clock: systemClock, logger })
  const say = (id: SessionId, text: string, to = store) =>
    to.write((tx) => tx.events.append(id, 1_000, [userMessage(text)]))
  async function texts(id: SessionId, of = store): Promise<readonly unknown[]> {
    const events = await of.read.events.since(id, 0, 1_000)
    return events.map((event) => (event.type === 'user_message' ? event.data.text : event.type))
  }

  beforeEach(async () => {
    warnings.length = 0
    path = join(tempFolder(), 'data', 'store.db')
    mkdirSync(dirname(path))
    store = await open(path)
  })
  afterEach(() => store.close())

  /** What a machine that lost power finds: the files as they stand, the last page of the log cut off. */
  function tornCopy(lost: number): string {
    const copy = join(tempFolder(), 'torn.db')
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix)
    const wal = `${copy}-wal`
    truncateSync(wal, statSync(wal).size - lost)
    return copy
  }

  it('R2: a session whose row cannot be read is neither listed nor counted, and takes no place on a page', async () => {
    const made: SessionId[] = []
    for (let no = 1; no <= 5; no++) {
      const { id } = await makeSession(store, no)
      await store.write((tx) => tx.events.append(id, no * 10_000, [userMessage('x')]))
      made.push(id)
    }
    await store.close()
    withDatabase(path, (database) => {
      database.prepare("UPDATE sessions SET scope = '{' WHERE id = ?").run(made[4])
      const no = '(SELECT no FROM sessions WHERE id = ?)'
      database.prepare(`UPDATE session_activity SET description_source = 'nobody' WHERE no = ${no}`).run(made[2])
    })
    store = await open(path)
    const list = async (limit: number, offset: number) => {
      const { sessions, total } = await store.read.sessions.list({ limit, offset, inactive: false })
      return { ids: sessions.map(({ id }) => id), total }
    }
    expect(await list(10, 0)).toEqual({ ids: [made[3], made[1], made[0]], total: 3 })
    expect(await list(2, 0)).toEqual({ ids: [made[3], made[1]], total: 3 })
    expect(await list(2, 2)).toEqual({ ids: [made[0]], total: 3 })
    expect(await store.read.sessions.list({ limit: 1, offset: 0, inactive: true, kinds: ['group'] })).toMatchObject({
      total: 3,
    })
    expect(warnings).toMatchObject([{ table: 'sessions', rows: [made[4], made[2]] }])
  })

  it.each([1, 100, 4_096])(
    'K31: a record torn %i bytes from its end is skipped, and the next append survives',
    async (lost) => {
      const { id } = await makeSession(store, 1)
      for (const text of ['one', 'two', 'three']) await say(id, text)
      const copy = tornCopy(lost)
      const torn = await open(copy)
      expect(await texts(id, torn)).toEqual(['one', 'two'])
      expect(await say(id, 'again', torn)).toBe(3)
      await torn.close()
      const later = await open(copy)
      expect(await texts(id, later)).toEqual(['one', 'two', 'again'])
      await later.close()
    },
  )

  it('K32: a corrupt record in the middle is skipped and named, the rest is read, and the next follows', async () => {
    const { id } = await makeSession(store, 1)
    for (const text of ['one', 'two', 'three']) await say(id, text)
    await store.close()
    withDatabase(path, (database) => database.exec(`UPDATE events SET data = '{"half' WHERE seq = 2`))
    store = await open(path)
    expect(await texts(id)).toEqual(['one', 'three'])
    expect(warnings).toEqual([{ table: 'events', rows: [`${id} 2`], count: 1 }])
    expect(await say(id, 'four')).toBe(4)
    expect(await texts(id)).toEqual(['one', 'three', 'four'])
  })

  it('C23: an append goes behind what is stored, whatever memory says', async () => {
    const { id } = await makeSession(store, 1)
    await say(id, 'one')
    withDatabase(path, (database) => database.exec('UPDATE session_activity SET last_seq = 7, message_count = 7'))
    expect([await say(id, 'two'), await say(id, 'three')]).toEqual([8, 9])
    expect(await store.read.sessions.get(id)).toMatchObject({ lastSeq: 9, messageCount: 9, preview: 'three' })
  })

  it('K37: 200 parallel appends to one session give 200 messages, in one order', async () => {
    const { id } = await makeSession(store, 1)
    const numbers = Array.from({ length: 200 }, (_, no) => no)
    const given = await Promise.all(numbers.map((no) => say(id, String(no))))
    expect(given).toEqual(numbers.map((no) => no + 1))
    await store.close()
    store = await open(path)
    expect(await texts(id)).toEqual(numbers.map(String))
  })

  it("K38: appends to a session do not wait for another one's turn", async () => {
    const [busy, idle] = [await makeSession(store, 1), await makeSession(store, 2)]
    await store.write((tx) => tx.turns.start(turnOf(busy.id, 1)))
    expect(await say(idle.id, 'at once')).toBe(1)
    expect(await store.read.turns.running()).toHaveLength(1)
  })

  it('K42: keys with slashes, dots and backslashes never leave the data folder', async () => {
    const outside = () => readdirSync(dirname(dirname(path))).sort()
    const inside = () => readdirSync(dirname(path)).sort()
    const before = [outside(), inside()]
    const names = [
      '../../etc/passwd',
      'agent:main:..\\..\\up',
      'a/b/../../../c',
      '/absolute',
      '.',
      '..',
      'nul\u0000byte',
    ]
    for (const name of names) {
      const draft = sessionDraft(1, { id: name as SessionId, scopeKey: name as ScopeKey, displayKey: name })
      await store.write(async (tx) => {
        await tx.sessions.create(draft, 1)
        await tx.aliases.add(draft.scopeKey, [name])
        await tx.events.append(draft.id, 1, [userMessage(name)])
        await tx.channelState.set('telegram', toAccountId('default'), name, name)
      })
      expect((await store.read.sessions.resolve(name))?.id).toBe(name)
      expect(await texts(draft.id)).toEqual([name])
    }
    expect([outside(), inside()]).toEqual(before)
  })
})
