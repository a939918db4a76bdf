import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { createGroupCommit } from '../../src/store/engines/group-commit.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { Scrubber } from '../../src/store/engines/sqlite-scrub.ts'
import { WriteAheadLog } from '../../src/store/engines/write-ahead-log.ts'
import type { Store } from '../../src/store/store.ts'
import { sessionDraft, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const MARK = 'zq9canary'
const SESSIONS = 20
const EVENTS = 3_000

async function open(path: string): Promise<Store> {
  const store = await openSqliteStore({ path, clock: systemClock })
  onTestFinished(() => store.close())
  return store
}

/** Writes into many logs by turns, so that pages are split in their middle; every second event has the mark. */
async function fill(store: Store): Promise<readonly string[]> {
  const made: SessionId[] = []
  for (let no = 0; no < SESSIONS; no++)
    made.push((await store.write((tx) => tx.sessions.create(sessionDraft(no), 1))).id)
  for (let no = 0; no < EVENTS; no += 100)
    await store.write(async (tx) => {
      for (let one = no; one < no + 100; one++) {
        const session = made[randomInt(SESSIONS)]
        const text = `${one % 2 === 0 ? MARK : 'kept'}${one} ${'x'.repeat(randomInt(one % 50 === 0 ? 20_000 : 500))}`
        if (session) await tx.events.append(session, one, [userMessage(text)])
      }
    })
  return made
}

/** Rows that come in no order, so that pages are split in their middle; then they are emptied without a trace. */
function splitPages(path: string, rows = 10_000): void {
  withDatabase(path, (database) => {
    database.pragma('secure_delete = ON')
    database.exec('CREATE TABLE mixed (log INTEGER, seq INTEGER, text TEXT, PRIMARY KEY (log, seq)) WITHOUT ROWID')
    const insert = database.prepare('INSERT INTO mixed VALUES (?, ?, ?)')
    let drawn = 1
    const draw = (below: number): number => {
      drawn = (drawn * 1_103_515_245 + 12_345) & 0x7fff_ffff
      return drawn % below
    }
    database.transaction(() => {
      for (let seq = 0; seq < rows; seq++) insert.run(draw(50), seq, `${MARK}${'y'.repeat(draw(600))}`)
    })()
    database.exec("UPDATE mixed SET text = ''")
  })
}

async function forgetMarked(store: Store): Promise<void> {
  for (const session of (await store.read.sessions.list({ inactive: true, limit: 200, offset: 0 })).sessions) {
    const events = await store.read.events.since(session.id, 0, EVENTS)
    const marked = events.filter((event) => JSON.stringify(event.data).includes(MARK)).map(({ seq }) => seq)
    await store.write(async (tx) => {
      await tx.forgetting.empty(session.id, marked, 'all')
      await tx.forgetting.unname(session.id, 'description')
    })
  }
}

/** Scrubs as forgetting does. */
async function scrub(store: Store): Promise<void> {
  while ((await store.shrink()) > 0);
  expect(await store.scrub()).toBe(true)
}

function expectClean(path: string): void {
  for (const file of [path, `${path}-wal`]) expect(readFileSync(file, 'latin1').split(MARK).length - 1).toBe(0)
  withDatabase(path, (database) => {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const rows = database.prepare('SELECT data FROM events').all() as { data: string }[]
    expect(rows.filter(({ data }) => data.includes('"kept'))).toHaveLength(EVENTS / 2)
  })
}

test('S41: what was emptied leaves no byte, also where pages were split before', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  await fill(store)
  splitPages(path)
  await forgetMarked(store)
  await scrub(store)
  expectClean(path)
})

test('S41: nor do pages that were freed before rows were deleted without a trace', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  await fill(store)
  withDatabase(path, (database) => {
    database.pragma('secure_delete = OFF')
    database.exec("DELETE FROM counters WHERE name = 'scrubbed'")
    database.exec(`CREATE TABLE old (text TEXT); INSERT INTO old
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      SELECT '${MARK}' || hex(randomblob(1 + abs(random()) % 6000)) FROM n`)
    database.exec('DELETE FROM old WHERE rowid % 3 > 0')
    database.exec('UPDATE old SET text = hex(randomblob(3000)); DELETE FROM old WHERE rowid % 2 = 0')
  })
  await forgetMarked(store)
  await scrub(store)
  expectClean(path)
})

test('S41: what is written meanwhile stays, and leaves no byte either', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  const sessions = await fill(store)
  splitPages(path)
  await forgetMarked(store)
  let scrubbed = false
  const done = scrub(store).finally(() => {
    scrubbed = true
  })
  let written = 0
  while (!scrubbed) {
    const session = sessions[randomInt(SESSIONS)] as SessionId
    await store.write((tx) => tx.events.append(session, 1, [userMessage(`late ${'y'.repeat(randomInt(3_000))}`)]))
    written++
    await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  expectClean(path)
  withDatabase(path, (database) => {
    const late = database.prepare("SELECT COUNT(*) AS n FROM events WHERE instr(data, 'late ')").get()
    expect(late).toEqual({ n: written })
  })
  expect(written).toBeGreaterThan(0)
})

test('S41: once the whole file was scrubbed nothing but the gaps of pages gets remains: free pages have none', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  await scrub(store)
  const [session] = (await fill(store)) as readonly SessionId[]
  const long = Array.from({ length: 50 }, () => userMessage(`${'x'.repeat(9_000)}${MARK}`))
  await store.write(async (tx) => session && tx.events.append(session, 1, long))
  await forgetMarked(store)
  // Free pages, in which the ends of long texts were, are not given back here.
  expect(await store.scrub()).toBe(true)
  expectClean(path)
})

test('S41: pages that are written meanwhile, from what was there before, leave no byte then or later', async () => {
  const path = join(tempFolder(), 'parley.db')
  await (await openSqliteStore({ path, clock: systemClock })).close()
  splitPages(path)
  const connection = openConnection(path)
  const log = new WriteAheadLog(connection, `${path}-wal`)
  const group = { read: async <T>(read: () => T): Promise<T> => read() }
  const scrubber = new Scrubber({ connection, group, log, path, reopen: () => openConnection(path) })
  const left = (): number => readFileSync(path, 'latin1').split(MARK).length - 1
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(left()).toBeGreaterThan(0)
  const done = scrubber.scrub()
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
  connection.exec("UPDATE mixed SET text = 'z'")
  expect(await done).toBe(true)
  expect(left()).toBe(0)
  connection.exec("UPDATE mixed SET text = 'w'")
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(left()).toBe(0)
  connection.close()
  scrubber.close()
})

test('two that ask at once are both served, and a store that is closed meanwhile closes', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  await fill(store)
  await forgetMarked(store)
  expect(await Promise.all([store.scrub(), store.scrub()])).toEqual([true, true])
  const interrupted = store.scrub()
  const closed = store.close()
  await expect(interrupted).rejects.toThrow('the store is closed')
  await closed
  withDatabase(path, (database) => expect(database.pragma('integrity_check', { simple: true })).toBe('ok'))
})

test.each([3, 4])('S41: nor do the pages that are written between two of its looks at the log (%s)', async (look) => {
  const path = join(tempFolder(), 'parley.db')
  const store = await open(path)
  await store.close()
  splitPages(path, 2_000)
  const connection = openConnection(path)
  connection.exec('PRAGMA cache_size = -64000')
  const group = createGroupCommit(connection, systemClock)
  const log = new WriteAheadLog(connection, `${path}-wal`)
  let looks = 0
  const read = async <T>(action: () => T): Promise<T> => {
    if (++looks === look) await group.write((sql) => sql.run("UPDATE mixed SET text = 'k' WHERE seq % 20 = 0", []))
    const found = await group.read(action)
    if (looks === 2) {
      // From now on the pages in memory are as they were; what is written makes another round.
      connection.all('SELECT * FROM mixed', [])
      connection.exec('CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(5000000))')
      expect(connection.get('PRAGMA wal_checkpoint(PASSIVE)', [])).toMatchObject({ checkpointed: 0 })
    }
    return found
  }
  const scrubber = new Scrubber({ connection, group: { read }, log, path, reopen: () => openConnection(path) })
  expect(await scrubber.scrub()).toBe(true)
  connection.close()
  scrubber.close()
  expect(looks).toBeGreaterThanOrEqual(4)
  expect(readFileSync(path, 'latin1').split(MARK).length - 1).toBe(0)
  withDatabase(path, (database) => expect(database.pragma('integrity_check', { simple: true })).toBe('ok'))
})
