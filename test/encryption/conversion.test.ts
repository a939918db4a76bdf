import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { EXIT } from '../../src/core/errors.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openEither } from '../../src/store/engines/sqlite-cipher.ts'
import { formOf } from '../../src/store/engines/sqlite-form.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { mulberry } from '../faults/random.ts'
import {
  buildChild,
  CANARY,
  convert,
  type Household,
  POINTS,
  plainHousehold,
  start,
  withCanary,
} from '../store/converting.ts'
import { removeTempFolders } from '../store/temp-database.ts'

removeTempFolders()
buildChild()

/** All that was there is there, in the form that is asked for, and nothing beside it that does not belong there. */
async function expectWhole({ path, folder, key: hex, files }: Household, form: 'plain' | 'encrypted'): Promise<void> {
  const key = form === 'encrypted' ? new StoreKey(hex) : undefined
  for (const [file, count] of [
    [path, 201],
    [`${path}.before-v7`, 200],
  ] as const) {
    expect(formOf(file)).toBe(form)
    const database = openEither(file, key)
    expect(database.prepare('SELECT count(*) FROM notices').pluck().get()).toBe(count)
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(database.pragma('auto_vacuum', { simple: true })).toBe(2)
    database.close()
  }
  const store = await openSqliteStore({ path, key, clock: systemClock })
  expect(await store.write((tx) => tx.notices.once(`${CANARY} in the log`, 1, 1_000_000))).toBe(false)
  await store.close()
  const media = mediaStoreIn(join(folder, 'media'), new Set(), systemClock, key)
  for (const id of files) expect(Buffer.from(await media.read(id)).toString()).toContain(CANARY)
  expect(readdirSync(folder).filter((name) => name.includes('conversion'))).toEqual([])
  if (form === 'encrypted') expect(withCanary(folder)).toEqual([])
}

describe('parley store encrypt and decrypt', () => {
  it.each(POINTS)('C48: killed at %s and called again, all is there, and in plain text nothing', async (at) => {
    const household = await plainHousehold()
    expect(await convert(household, { to: 'encrypted', at })).toBe('SIGKILL')
    expect(await convert(household, { to: 'encrypted' })).toBe(0)
    await expectWhole(household, 'encrypted')
    expect(await convert(household, { to: 'plain', at })).toBe('SIGKILL')
    expect(await convert(household, { to: 'plain' })).toBe(0)
    await expectWhole(household, 'plain')
  })

  it('C48: killed again and again, whenever that is, all is there in the end', async () => {
    const household = await plainHousehold()
    const random = mulberry(48)
    for (const to of ['encrypted', 'plain', 'encrypted'] as const) {
      for (let kills = 0; kills < 12; kills++) {
        const child = start(household, { to })
        const ended = once(child, 'exit')
        await Promise.race([pause(random() * 700), ended])
        child.kill('SIGKILL')
        await ended
      }
      expect(await convert(household, { to })).toBe(0)
      await expectWhole(household, to)
    }
  }, 240_000)

  it.each(['plain', 'encrypted'] as const)(
    'C48: killed on its way to plain text, it is not ended with another key, here as %s: no file is lost',
    async (to) => {
      const household = await plainHousehold()
      expect(await convert(household, { to: 'encrypted' })).toBe(0)
      expect(await convert(household, { to: 'plain', at: 'CP38-file-converted' })).toBe('SIGKILL')
      expect(await convert({ ...household, key: '0123456789abcdef'.repeat(4) }, { to })).toBe(EXIT.config)
      expect(await convert(household, { to: 'plain' })).toBe(0)
      await expectWhole(household, 'plain')
    },
  )

  it('another key than that of the database changes nothing', async () => {
    const household = await plainHousehold()
    expect(await convert(household, { to: 'encrypted' })).toBe(0)
    const other = { ...household, key: new StoreKey(household.key).derive('files').toString('hex') }
    for (const to of ['encrypted', 'plain'] as const) expect(await convert(other, { to })).toBe(EXIT.config)
    await expectWhole(household, 'encrypted')
  })

  it('a copy of another key stays as it is and does not stop the rest', async () => {
    const household = await plainHousehold()
    writeFileSync(`${household.path}.before-v6`, 'no database at all, and long enough to have a header', {
      mode: 0o600,
    })
    expect(await convert(household, { to: 'encrypted' })).toBe(0)
    await expectWhole(household, 'encrypted')
  })

  const PAGE = 4_096
  it.each([
    ['its header', (bytes: Buffer) => bytes.fill(7, 100, 112)],
    ['its last pages', (bytes: Buffer) => bytes.fill(7, bytes.length - 6 * PAGE)],
    ['its end', (bytes: Buffer) => bytes.subarray(0, bytes.length - 3 * PAGE - 100)],
    ['all but a page', (bytes: Buffer) => bytes.fill(0, PAGE)],
  ])('C48: a damaged copy (%s) stays as it is, is named, and stops neither way', async (_, damage) => {
    for (const to of ['encrypted', 'plain'] as const) {
      const household = await plainHousehold()
      if (to === 'plain') expect(await convert(household, { to: 'encrypted' })).toBe(0)
      const copy = `${household.path}.before-v7`
      const damaged = damage(readFileSync(copy))
      writeFileSync(copy, damaged)
      expect(await convert(household, { to })).toBe(0)
      expect(formOf(household.path)).toBe(to)
      expect(readFileSync(copy).equals(damaged)).toBe(true)
      expect(readdirSync(household.folder).filter((name) => name.includes('conversion'))).toEqual([])
    }
  })

  it('C48: a damaged database is refused both ways, stays as it was, and a daemon may look at it', async () => {
    for (const to of ['encrypted', 'plain'] as const) {
      const household = await plainHousehold()
      if (to === 'plain') expect(await convert(household, { to: 'encrypted' })).toBe(0)
      const { path, folder } = household
      withoutLog(path)
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(7, 9 * PAGE, 12 * PAGE))
      expect(await convert(household, { to })).toBe(1)
      expect(readFileSync(path).equals(bytes)).toBe(true)
      expect(readdirSync(folder).filter((name) => name.includes('conversion'))).toEqual([])
    }
  })

  it('C48: rows that break a rule of their table are no reason to refuse', async () => {
    const household = await plainHousehold()
    const database = openEither(household.path, undefined)
    database.exec("CREATE TABLE odd (a TEXT); INSERT INTO odd VALUES (NULL), ('x')")
    database.unsafeMode(true)
    database.pragma('writable_schema = ON')
    database.exec("UPDATE sqlite_schema SET sql = 'CREATE TABLE odd (a TEXT NOT NULL)' WHERE name = 'odd'")
    database.close()
    expect(await convert(household, { to: 'encrypted' })).toBe(0)
    expect(withCanary(household.folder)).toEqual([])
    expect(await convert(household, { to: 'plain' })).toBe(0)
    const again = openEither(household.path, undefined)
    expect(again.prepare('SELECT a FROM odd ORDER BY a').pluck().all()).toEqual([null, 'x'])
    again.close()
  })
})

/** Folds the write-ahead log in, so that damage is not mended by it. */
function withoutLog(path: string): void {
  if (formOf(path) !== 'plain') return
  const database = openEither(path, undefined)
  database.pragma('journal_mode = DELETE')
  database.close()
}
