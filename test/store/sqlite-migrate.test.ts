import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { failureOf, makeSession } from '../contracts/store/under-test.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

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

  it('A25: a database with content is copied, whole and private, before its schema changes', async () => {
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

  it('A25: a failing step leaves the schema before it, and the next try completes', async () => {
    const store = await open()
    const { id } = await makeSession(store, 1)
    await store.close()
    const good = step(1, 'CREATE TABLE one (x TEXT)')
    const bad = step(2, 'CREATE TABLE two (x TEXT)', 'DROP TABLE turns', 'CREATE TABLE two (x TEXT)')
    expect(await failureOf(open(good, bad))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('step 2'),
    })
    expect(version()).toBe(last + 1)
    expect(tables()).toEqual(expect.arrayContaining(['one', 'turns']))
    expect(tables()).not.toContain('two')
    expect(existsSync(`${path}.before-v${last + 2}`)).toBe(true)
    const next = await open(good, step(2, 'CREATE TABLE two (x TEXT)'))
    expect((await next.read.sessions.get(id))?.id).toBe(id)
    await next.close()
    expect(version()).toBe(last + 2)
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
