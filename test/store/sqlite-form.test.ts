import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { checkForm, formOf } from '../../src/store/engines/sqlite-form.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

/** The beginning of a database that the driver has encrypted, and then what cannot be told from noise. */
const ENCRYPTED = Buffer.concat([
  Buffer.from('d83570b783f3af105a90b8c2473739191000010120402020', 'hex'),
  randomBytes(8_192 - 24),
])

function fileOf(bytes: Uint8Array | string): string {
  const path = join(tempFolder(), 'parley.db')
  writeFileSync(path, bytes, { mode: 0o600 })
  return path
}

describe('the first look at a database file', () => {
  it('tells a plain one from one that is encrypted, and both from anything else', () => {
    const plain = fileOf('')
    expect(formOf(plain)).toBe('empty')
    withDatabase(plain, (database) => database.exec('CREATE TABLE a (b)'))
    expect(formOf(plain)).toBe('plain')
    expect(formOf(`${plain}.absent`)).toBe('absent')
    expect(formOf(fileOf(ENCRYPTED))).toBe('encrypted')
    // Pages of 64 KB.
    expect(formOf(fileOf(Buffer.from(ENCRYPTED).fill(Buffer.from([0, 1]), 16, 18)))).toBe('encrypted')
    for (const [at, byte] of [
      [16, 0x11],
      [17, 2],
      [20, 0],
      [21, 65],
    ] as const)
      expect(formOf(fileOf(Buffer.from(ENCRYPTED).fill(byte, at, at + 1)))).toBe('other')
    for (const text of ['short', 'x'.repeat(100)]) expect(formOf(fileOf(text))).toBe('other')
  })
})

describe('a store without a key', () => {
  it('C48: is for its owner alone, and an encrypted one is not touched: the refusal names the setting', async () => {
    const plain = fileOf('')
    await (await openSqliteStore({ path: plain, clock: systemClock })).close()
    expect(statSync(plain).mode & 0o777).toBe(0o600)

    const path = fileOf(ENCRYPTED)
    writeFileSync(`${path}-wal`, 'a log', { mode: 0o600 })
    await expect(openSqliteStore({ path, clock: systemClock })).rejects.toMatchObject({
      code: 'config',
      message: `${path} is encrypted, and no key is configured. Set store.key to the key with which it was encrypted.`,
    })
    expect(readFileSync(path).equals(ENCRYPTED)).toBe(true)
    expect(readFileSync(`${path}-wal`, 'utf8')).toBe('a log')
    expect(readdirSync(join(path, '..')).sort()).toEqual(['parley.db', 'parley.db-wal', 'parley.db.lock'])
  })

  it('a file that is damaged is said to be that', async () => {
    await expect(openSqliteStore({ path: fileOf('x'.repeat(5_000)), clock: systemClock })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no database, or a damaged one'),
    })
  })
})

describe('a store with a key', () => {
  it('is not opened while it is plain, nor while it is partly encrypted', () => {
    const path = fileOf('')
    withDatabase(path, (database) => database.exec('CREATE TABLE a (b)'))
    expect(() => checkForm(path, true)).toThrow(/store\.key is set, and .* is not encrypted\. .*"parley store encrypt"/)
    expect(() => checkForm(path, false)).not.toThrow()
    writeFileSync(`${path}.conversion`, '')
    for (const keyed of [true, false]) expect(() => checkForm(path, keyed)).toThrow(/partly encrypted/)
  })
})
