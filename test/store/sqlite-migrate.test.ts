import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../src/cli/run-command.ts'
import { systemClock } from '../../src/core/clock.ts'
import { EXIT } from '../../src/core/errors.ts'
import { type LogFields, silentLogger } from '../../src/core/logger.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { failureOf, makeSession } from '../contracts/store/under-test.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const AS_ROOT = process.geteuid?.() === 0
const last = MIGRATIONS.length
const step = (offset: number, ...statements: readonly string[]): Migration => ({
  version: last + offset,
  name: `step ${offset}`,
  statements: () => statements,
})

describe('migrations', () => {
  let path: string
  const open = (...more: readonly Migration[]) =>
    openSqliteStore({ path, clock: systemClock, migrations: [...MIGRATIONS, ...more] })
  const tables = (file = path) =>
    withDatabase(file, (database) =>
      database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
    )
  const version = () =>
    withDatabase(path, (database) => database.prepare('SELECT MAX(version) FROM migrations').pluck().get())

  beforeEach(() => {
    path = join(tempFolder(), 'store.db')
  })

  it('are numbered without a gap, each name once', () => {
    expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    expect(new Set(MIGRATIONS.map((migration) => migration.name)).size).toBe(MIGRATIONS.length)
  })

  it('a new database needs no copy', async () => {
    await (await open()).close()
    expect(version()).toBe(last)
    expect(existsSync(`${path}.before-v${last}`)).toBe(false)
  })

  it('one that takes long says every second how far it is', async () => {
    await (await open()).close()
    let elapsed = 0
    // As if the copy and each statement took 600 ms.
    const clock = { ...systemClock, elapsed: () => (elapsed += 600) }
    const said: unknown[] = []
    const logger = { ...silentLogger, info: (_: string, fields?: LogFields) => void said.push(fields) }
    const slow = step(1, ...['a', 'b', 'c', 'd'].map((name) => `CREATE TABLE ${name} (x TEXT)`))
    await (await openSqliteStore({ path, clock, logger, migrations: [...MIGRATIONS, slow] })).close()
    expect(said.slice(0, 3)).toEqual([
      { done: 1, of: 4 },
      { done: 3, of: 4 },
      { from: last, to: last + 1, copy: `${path}.before-v${last + 1}` },
    ])
  })

  it('F-A25: a database with content is copied, whole and private, before its schema changes', async () => {
    const before = await open()
    const { id } = await makeSession(before, 1)
    await before.close()
    const after = await open(step(1, 'CREATE TABLE later (x TEXT)'), step(2, 'ALTER TABLE later ADD COLUMN y TEXT'))
    expect((await after.read.sessions.get(id))?.id).toBe(id)
    await after.close()
    expect(version()).toBe(last + 2)
    const copy = `${path}.before-v${last + 2}`
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(tables(copy)).not.toContain('later')
    expect(withDatabase(copy, (database) => database.prepare('SELECT id FROM sessions').pluck().all())).toEqual([id])
  })

  it('F-A25: the copy is for the owner of the database alone, whatever the umask', async () => {
    await (await open()).close()
    if (AS_ROOT) for (const owned of [dirname(path), path]) chownSync(owned, 65534, 65534)
    const umask = process.umask(0)
    try {
      await (await open(step(1, 'CREATE TABLE later (x TEXT)'))).close()
    } finally {
      process.umask(umask)
    }
    const { mode, uid } = statSync(`${path}.before-v${last + 1}`)
    expect([mode & 0o777, uid]).toEqual([0o600, statSync(path).uid])
  })

  it('F-A25: what an earlier try left of a copy is in nobody’s way', async () => {
    await (await open()).close()
    const copy = `${path}.before-v${last + 1}`
    writeFileSync(`${copy}.partial`, 'half a database', { mode: 0o600 })
    await (await open(step(1, 'CREATE TABLE later (x TEXT)'))).close()
    expect(tables(copy)).toContain('sessions')
    expect(existsSync(`${copy}.partial`)).toBe(false)
  })

  it('K40: a failed migration leaves the old database untouched, with a code of its own, and the next try completes', async () => {
    const store = await open()
    const { id } = await makeSession(store, 1)
    await store.close()
    const before = tables()
    const good = step(1, 'CREATE TABLE one (x TEXT)')
    const bad = step(2, 'CREATE TABLE two (x TEXT)', 'DROP TABLE turns', 'CREATE TABLE two (x TEXT)')
    expect(await failureOf(open(good, bad))).toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('step 2'),
    })
    expect(version()).toBe(last)
    expect(tables()).toEqual(before)
    expect(existsSync(`${path}.before-v${last + 2}`)).toBe(true)
    expect(exitCodeOf(await failureOf(open(good, bad)))).toBe(EXIT.migration)
    const next = await open(good, step(2, 'CREATE TABLE two (x TEXT)'))
    expect((await next.read.sessions.get(id))?.id).toBe(id)
    await next.close()
    expect(version()).toBe(last + 2)
  })

  it('K40: a database that cannot be copied first is not touched either', async () => {
    await (await open()).close()
    mkdirSync(`${path}.before-v${last + 1}.partial`)
    const failed = await failureOf(open(step(1, 'CREATE TABLE one (x TEXT)')))
    expect(failed).toMatchObject({ code: 'migration_failed', message: expect.stringContaining('copied') })
    expect(version()).toBe(last)
  })

  it('K40: a copy that does not come to its end takes no space', async () => {
    await (await open()).close()
    mkdirSync(`${path}.before-v${last + 1}`)
    const failed = await failureOf(open(step(1, 'CREATE TABLE one (x TEXT)')))
    expect(failed).toMatchObject({ code: 'migration_failed', message: expect.stringContaining('copied') })
    expect(existsSync(`${path}.before-v${last + 1}.partial`)).toBe(false)
  })

  it('a database of a newer program is store_newer and stays untouched', async () => {
    await (await open(step(1, 'CREATE TABLE later (x TEXT)'))).close()
    const epoch = () => withDatabase(path, (database) => database.prepare('SELECT value FROM counters').pluck().get())
    const before = epoch()
    expect(await failureOf(open())).toMatchObject({
      code: 'store_newer',
      message: expect.stringContaining('newer program'),
    })
    expect([version(), epoch()]).toEqual([last + 1, before])
    await (await open(step(1, 'CREATE TABLE later (x TEXT)'))).close()
  })
})
