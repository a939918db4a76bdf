import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { failureOf } from '../contracts/store/under-test.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()
const AS_ROOT = process.geteuid?.() === 0
const ACCOUNT = toAccountId('default')
const open = (path: string) => openSqliteStore({ path, clock: systemClock })

describe('openSqliteStore', () => {
  const umask = process.umask()
  afterEach(() => void process.umask(umask))

  it.each([0o000, 0o022, 0o177])('files are for their owner alone under umask %o', async (mask) => {
    const folder = join(tempFolder(), 'deep', 'state')
    process.umask(mask & 0o077)
    const store = await open(join(folder, 'store.db'))
    await store.write((tx) => tx.channelState.set('telegram', ACCOUNT, 'a', '1'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777])
    expect(modes).toEqual([
      ['store.db', 0o600],
      ['store.db-shm', 0o600],
      ['store.db-wal', 0o600],
      ['store.db.lock', 0o600],
      ['store.db.marker', 0o600],
    ])
    await store.close()
  })

  it('a database others could read is closed to them', async () => {
    const path = join(tempFolder(), 'store.db')
    await (await open(path)).close()
    chmodSync(path, 0o644)
    await (await open(path)).close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('close checkpoints: the database file alone holds everything', async () => {
    const path = join(tempFolder(), 'store.db')
    const store = await open(path)
    await store.write((tx) => tx.channelState.set('telegram', ACCOUNT, 'a', '1'))
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('F-A23: a second open is store_locked, by another name of the file too, and harms nothing', async () => {
    const folder = tempFolder()
    const path = join(folder, 'store.db')
    const store = await open(path)
    symlinkSync(path, join(folder, 'alias.db'))
    for (const name of ['store.db', 'alias.db']) {
      const failure = await failureOf(open(join(folder, name)))
      expect(failure).toMatchObject({ code: 'store_locked', message: expect.stringMatching(/stop it first/i) })
    }
    await store.write((tx) => tx.channelState.set('telegram', ACCOUNT, 'a', '1'))
    expect(await store.read.channelState.get('telegram', ACCOUNT, 'a')).toBe('1')
    await store.close()
    await (await open(path)).close()
  })

  it.runIf(AS_ROOT)(
    'root opens no database elsewhere that the owner of a folder has put a link or a name there for',
    async () => {
      const folder = tempFolder()
      const [theirs, ours] = [join(folder, 'theirs'), join(folder, 'ours')]
      for (const path of [theirs, ours]) mkdirSync(path, { mode: 0o700 })
      const file = join(ours, 'file')
      writeFileSync(file, 'ours')
      chmodSync(file, 0o644)
      chownSync(theirs, 65534, 65534)
      symlinkSync(file, join(theirs, 'link.db'))
      symlinkSync(join(ours, 'new.db'), join(theirs, 'new.db'))
      linkSync(file, join(theirs, 'name.db'))
      for (const name of ['link.db', 'new.db', 'name.db'])
        expect(await failureOf(open(join(theirs, name)))).toMatchObject({ code: 'config' })
      expect(readdirSync(ours)).toEqual(['file'])
      expect(readFileSync(file, 'utf8')).toBe('ours')
      expect(statSync(file).mode & 0o777, 'left as it was').toBe(0o644)

      chownSync(ours, 65534, 65534)
      await (await open(join(theirs, 'new.db'))).close()
      expect(statSync(join(ours, 'new.db')).uid).toBe(65534)
    },
  )

  it.each(['-wal', '-shm', '-journal'])('a file %s beside the database that others made is refused', async (suffix) => {
    const path = join(tempFolder(), 'store.db')
    const beside = path + suffix
    writeFileSync(beside, '')
    chmodSync(beside, 0o666)
    const refused = async (message: string) =>
      expect(await failureOf(open(path))).toMatchObject({ code: 'config', message: expect.stringContaining(message) })
    await refused(`chmod 600 ${beside}`)
    if (AS_ROOT) {
      chmodSync(beside, 0o600)
      chownSync(beside, 65534, 65534)
      await refused(`${beside} belongs to user 65534`)
    }
    rmSync(beside)
    symlinkSync('elsewhere', beside)
    await refused(`${beside} is in the way and no plain file`)
  })

  it('links that lead to each other are refused', async () => {
    const folder = tempFolder()
    symlinkSync('b.db', join(folder, 'a.db'))
    symlinkSync('a.db', join(folder, 'b.db'))
    expect(await failureOf(open(join(folder, 'a.db')))).toMatchObject({ code: 'config' })
  })

  it('F-F09: a path that cannot be written is a mistake of the configuration, with the reason', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'file'), '')
    const failure = await failureOf(open(join(folder, 'file', 'store.db')))
    expect(failure).toMatchObject({ code: 'config', message: expect.stringMatching(/file is no folder\. Choose/) })
  })

  it('F-F06: a file that is no database is unavailable, and the lock is given back', async () => {
    const path = join(tempFolder(), 'store.db')
    writeFileSync(path, 'this is a letter, not a database. '.repeat(100))
    for (let tries = 0; tries < 2; tries++) {
      expect(await failureOf(open(path))).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/store\.db: .*backup/),
      })
    }
  })
})
