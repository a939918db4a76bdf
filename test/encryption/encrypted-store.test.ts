import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openEither } from '../../src/store/engines/sqlite-cipher.ts'
import { formOf } from '../../src/store/engines/sqlite-form.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { CANARY, filesIn, withCanary } from '../store/converting.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const aKey = (): StoreKey => new StoreKey(randomBytes(32).toString('hex'))
const NUMBERS = [...Array(300).keys()]
/** The index of a log is made anew by whoever opens it; a lock is empty. */
const KEPT = /\.db(-wal)?$/
const sums = (folder: string): readonly string[] =>
  filesIn(folder)
    .filter((file) => KEPT.test(file))
    .map((file) => `${basename(file)} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`)

async function rig(key = aKey()) {
  const folder = tempFolder()
  const path = join(folder, 'parley.db')
  const open = (given: StoreKey | undefined = key) => openSqliteStore({ path, key: given, clock: systemClock })
  return { folder, path, key, open }
}

/** The files as a process that was killed would leave them, in a folder of their own. */
function asKilled(path: string): string {
  const folder = tempFolder()
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(path + suffix, join(folder, `parley.db${suffix}`))
  return join(folder, 'parley.db')
}

describe('an encrypted store', () => {
  it('C48: no word of it is on the disk, not in the write-ahead log either, and it opens again with its key', async () => {
    const { folder, path, open } = await rig()
    const store = await open()
    await Promise.all(NUMBERS.map((no) => store.write((tx) => tx.notices.once(`${CANARY} ${no}`, no, 0))))
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    expect(withCanary(folder)).toEqual([])
    await store.close()
    expect(withCanary(folder)).toEqual([])
    expect(formOf(path)).toBe('encrypted')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const again = await open()
    expect(await again.write((tx) => tx.notices.once(`${CANARY} 7`, 7, 1_000_000))).toBe(false)
    await again.close()
  })

  it.each([
    ['another key', aKey(), /^store\.key does not open \S+parley\.db: .* Set store\.key to the key/],
    ['no key', undefined, /is encrypted, and no key is configured\. Set store\.key/],
  ])('C48: with %s it is refused, and nothing of it changes, its log neither', async (_, key, message) => {
    const { path, key: right, open } = await rig()
    const store = await open()
    await Promise.all(NUMBERS.map((no) => store.write((tx) => tx.notices.once(`${CANARY} ${no}`, no, 0))))
    const killed = asKilled(path)
    await store.close()
    const folder = join(killed, '..')
    const before = sums(folder)
    expect(before).toHaveLength(2)
    const refused = openSqliteStore({ path: killed, key, clock: systemClock })
    await expect(refused).rejects.toMatchObject({ code: 'config', message: expect.stringMatching(message) })
    expect(sums(folder)).toEqual(before)
    const again = await openSqliteStore({ path: killed, key: right, clock: systemClock })
    expect(await again.write((tx) => tx.notices.once(`${CANARY} 299`, 7, 1_000_000))).toBe(false)
    await again.close()
  })

  it('the copy that is made before a migration is encrypted with the same key', async () => {
    const { folder, path, key } = await rig()
    const clock = systemClock
    const old = await openSqliteStore({ path, key, clock, migrations: MIGRATIONS.slice(0, -1) })
    await old.write((tx) => tx.notices.once(CANARY, 1, 0))
    await old.close()
    await (await openSqliteStore({ path, key, clock })).close()
    const copies = readdirSync(folder).filter((name) => name.includes('.before-v'))
    expect(copies).toHaveLength(1)
    const copy = join(folder, String(copies[0]))
    expect([formOf(copy), withCanary(folder)]).toEqual(['encrypted', []])
    const database = openEither(copy, key)
    expect(database.prepare('SELECT key FROM notices').pluck().all()).toContain(CANARY)
    database.close()
  })

  it('a page that somebody changed is an error and never another text', async () => {
    const { path, key, open } = await rig()
    const store = await open()
    await Promise.all(NUMBERS.map((no) => store.write((tx) => tx.notices.once(`${CANARY} ${no}`, no, 0))))
    await store.close()
    const bytes = readFileSync(path)
    for (let page = 1; page < bytes.length / 4_096; page++)
      bytes[page * 4_096 + 100] = (bytes[page * 4_096 + 100] ?? 0) ^ 1
    writeFileSync(path, bytes)
    const database = openEither(path, key)
    expect(() => database.prepare('SELECT key FROM notices').all()).toThrow(/malformed|disk I\/O|not a database/)
    database.close()
  })

  it('a plain store is not opened with a key, and stays as it is', async () => {
    const { folder, path, open } = await rig()
    await (await openSqliteStore({ path, clock: systemClock })).close()
    const before = sums(folder)
    await expect(open()).rejects.toMatchObject({ code: 'config', message: expect.stringContaining('is not encrypted') })
    expect(sums(folder)).toEqual(before)
  })
})
