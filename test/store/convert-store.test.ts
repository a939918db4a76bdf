import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { convertMedia } from '../../src/media/convert-media.ts'
import type { Recode } from '../../src/store/engines/convert-database.ts'
import { convertStore } from '../../src/store/engines/convert-store.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { formOf } from '../../src/store/engines/sqlite-form.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { sample } from '../sample.ts'
import {
  buildChild,
  CANARY,
  convert,
  filesIn,
  type Household,
  POINTS,
  plainHousehold,
  withCanary,
} from './converting.ts'
import { removeTempFolders, withDatabase } from './temp-database.ts'
import { veiling } from './veiling.ts'

removeTempFolders()
buildChild()

const open = (path: string) => openSqliteStore({ path, clock: systemClock })
const by = 'veiling'

function convertHere({ path, key, folder }: Household, to: 'plain' | 'encrypted', recode: Recode = veiling) {
  const own = new StoreKey(key)
  const beside = async () => void (await convertMedia({ folder: join(folder, 'media'), key: own, to }))
  return convertStore({ path, key: own, to, beside, recode })
}

/** All of a plain store is there, and nothing beside it that does not belong there. */
async function expectWhole({ path, folder, files }: Household): Promise<void> {
  await (await open(path)).close()
  const count = (file: string): unknown =>
    withDatabase(file, (database) => database.prepare('SELECT count(*) FROM notices').pluck().get())
  expect([count(path), count(`${path}.before-v7`)]).toEqual([201, 200])
  const media = mediaStoreIn(join(folder, 'media'))
  for (const id of files) expect(Buffer.from(await media.read(id)).toString()).toContain(CANARY)
  expect(filesIn(join(folder, 'media'))).toHaveLength(files.length)
  expect(readdirSync(folder).filter((name) => name.includes('conversion'))).toEqual([])
}

describe('a conversion that is killed', () => {
  it.each(sample(POINTS, 3))(
    'C48: at %s goes on when it is called again, and leaves no word in plain text',
    async (at) => {
      const household = await plainHousehold()
      const { path, folder } = household
      expect(await convert(household, { to: 'encrypted', by, at })).toBe('SIGKILL')
      await expect(open(path)).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('Run it once more'),
      })
      expect(await convert(household, { to: 'encrypted', by })).toBe(0)
      expect(withCanary(folder)).toEqual([])
      expect([path, `${path}.before-v7`].map(formOf)).toEqual(['encrypted', 'encrypted'])

      expect(await convert(household, { to: 'plain', by, at })).toBe('SIGKILL')
      expect(await convert(household, { to: 'plain', by })).toBe(0)
      await expectWhole(household)
    },
  )

  it.each(['CP36-store-linked', 'CP38-file-converted'])('at %s can be taken back', async (at) => {
    const household = await plainHousehold()
    expect(await convert(household, { to: 'encrypted', by, at })).toBe('SIGKILL')
    expect(await convert(household, { to: 'plain', by })).toBe(0)
    await expectWhole(household)
  })

  it('while it copies leaves half a copy, which nobody takes for the database', async () => {
    const household = await plainHousehold()
    const dying: Recode = {
      ...veiling,
      copy(from, to) {
        writeFileSync(to, readFileSync(from).subarray(0, 5_000))
        throw new Error('the disk is full')
      },
    }
    await expect(convertHere(household, 'encrypted', dying)).rejects.toThrow('the disk is full')
    // Nothing has happened yet: the daemon may start as it was.
    await (await open(household.path)).close()
    await convertHere(household, 'encrypted')
    expect(withCanary(household.folder)).toEqual([])
    await convertHere(household, 'plain')
    await expectWhole(household)
  })
})

describe('a conversion', () => {
  it('is refused while another process has the store', async () => {
    const household = await plainHousehold()
    const store = await open(household.path)
    await expect(convertHere(household, 'encrypted')).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
  })

  it('C48: a copy from before a migration that is damaged stays as it is, is named, and stops nothing', async () => {
    const household = await plainHousehold()
    const { path, folder } = household
    const copy = `${path}.before-v7`
    const damaged = readFileSync(copy).fill(7, 100, 112)
    writeFileSync(copy, damaged)
    const { converted, left } = await convertHere(household, 'encrypted')
    expect([converted, left]).toEqual([
      [path],
      [expect.stringContaining(`${copy}: the key does not open it, or it is damaged`), expect.stringContaining(copy)],
    ])
    expect(readFileSync(copy).equals(damaged)).toBe(true)
    expect(readdirSync(folder).filter((name) => name.includes('conversion'))).toEqual([])
    expect(withCanary(folder)).toEqual([copy])
    await convertHere(household, 'plain')
    await (await open(path)).close()
  })

  const SQLITE_FULL = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  it('that fails at a copy for another reason than what is in it goes on there when it is called again', async () => {
    const household = await plainHousehold()
    const full: Recode = {
      ...veiling,
      copy(from, to, form) {
        if (from.endsWith('-v7'))
          throw new ParleyError('unavailable', 'no space left on the disk', { cause: SQLITE_FULL })
        veiling.copy(from, to, form)
      },
    }
    await expect(convertHere(household, 'encrypted', full)).rejects.toThrow(
      /\(no space left on the disk\)\. Free some space, then run the command once more/,
    )
    await expect(open(household.path)).rejects.toMatchObject({ code: 'config' })
    expect(await convertHere(household, 'encrypted')).toMatchObject({
      converted: [`${household.path}.before-v7`],
      left: [],
    })
    expect(withCanary(household.folder)).toEqual([])
  })

  it('C48: a copy that holds something else than the database never takes its place', async () => {
    const household = await plainHousehold()
    const { path, folder } = household
    const other: Recode = {
      ...veiling,
      copy(from, to, form) {
        veiling.copy(from, to, form)
        writeFileSync(to, readFileSync(to).fill(9, 5_000, 5_010))
      },
    }
    await expect(convertHere(household, 'encrypted', other)).rejects.toThrow('the copy is another')
    expect(formOf(path)).toBe('plain')
    expect(readdirSync(folder).filter((name) => name.includes('conversion'))).toEqual([])
    await (await open(path)).close()
  })

  it('C48: a file with which the engine would read the new database keeps it from its place', async () => {
    const household = await plainHousehold()
    const { path } = household
    const leaving: Recode = {
      ...veiling,
      copy(from, to, form) {
        veiling.copy(from, to, form)
        writeFileSync(`${from}-journal`, 'pages of the plain one')
      },
    }
    await expect(convertHere(household, 'encrypted', leaving)).rejects.toThrow('is still there')
    expect(formOf(path)).toBe('plain')
    rmSync(`${path}-journal`)
    await convertHere(household, 'encrypted')
    expect(withCanary(household.folder)).toEqual([])
  })

  it('called twice does nothing the second time', async () => {
    const household = await plainHousehold()
    const { path } = household
    expect(await convertHere(household, 'encrypted')).toEqual({ converted: [path, `${path}.before-v7`], left: [] })
    const before = filesIn(household.folder).map((file) => readFileSync(file).toString('hex'))
    expect(await convertHere(household, 'encrypted')).toEqual({ converted: [], left: [] })
    expect(filesIn(household.folder).map((file) => readFileSync(file).toString('hex'))).toEqual(before)
  })

  it('C48: overwrites what was there before it is removed: pages, write-ahead log, copies, files', async () => {
    const household = await plainHousehold()
    const before = withCanary(household.folder)
    const named = ['parley.db', 'parley.db-wal', 'parley.db.before-v7', 'parley.db.before-v8.partial', 'partial-left']
    expect(before.map((file) => basename(file))).toEqual(expect.arrayContaining(named))
    expect(before).toHaveLength(named.length + household.files.length)
    // Whoever has a file open sees what becomes of it, also once it has no name.
    const open = before.map((file) => openSync(file, 'r'))
    expect(await convert(household, { to: 'encrypted', by })).toBe(0)
    expect(open.map((file) => readFileSync(file).includes(CANARY))).toEqual(open.map(() => false))
    for (const file of open) closeSync(file)
  })

  it('removes and does not overwrite what somebody else has a link to, and names it', async () => {
    const household = await plainHousehold()
    const kept = join(household.folder, '..', `${household.key}-link`)
    linkSync(household.path, kept)
    const { left } = await convertHere(household, 'encrypted')
    expect(left).toEqual([expect.stringContaining('there is another link to it')])
    expect(readFileSync(kept).includes(CANARY)).toBe(true)
    rmSync(kept)
  })

  it('names a plain copy that somebody made, and leaves it', async () => {
    const household = await plainHousehold()
    const copy = `${household.path}.mine`
    writeFileSync(copy, readFileSync(household.path))
    const { left } = await convertHere(household, 'encrypted')
    expect(left).toEqual([`${copy}: is a plain database that somebody put there`])
    expect(withCanary(household.folder)).toEqual([copy])
  })

  it('its files are for their owner alone', async () => {
    const household = await plainHousehold()
    await convertHere(household, 'encrypted')
    const modes = filesIn(household.folder).map((file) => statSync(file).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
  })

  it('of a store that does not exist yet makes nothing but its empty file', async () => {
    const household = await plainHousehold()
    const path = join(household.folder, 'other', 'parley.db')
    expect(await convertHere({ ...household, path, folder: join(household.folder, 'other') }, 'encrypted')).toEqual({
      converted: [],
      left: [],
    })
    expect(existsSync(`${path}.conversion`)).toBe(false)
  })

  it('a file that cannot be decrypted stays as it is and is named', async () => {
    const { folder, key, files } = await plainHousehold()
    const [media, own] = [join(folder, 'media'), new StoreKey(key)]
    expect(await convertMedia({ folder: media, key: own, to: 'encrypted' })).toEqual({ files: 3, left: [] })
    const [spoilt = ''] = filesIn(media)
    writeFileSync(spoilt, 'spoilt')
    const { files: done, left } = await convertMedia({ folder: media, key: own, to: 'plain' })
    expect([done, left]).toEqual([files.length - 1, [expect.stringContaining(`${spoilt}: it was changed`)]])
    expect(existsSync(spoilt)).toBe(true)
  })

  it('a file that the system does not give ends it by name, and the next call goes on there', async () => {
    const { folder, key } = await plainHousehold()
    const [media, own] = [join(folder, 'media'), new StoreKey(key)]
    const [lost = ''] = filesIn(media).filter((file) => !basename(file).startsWith('partial'))
    renameSync(lost, `${lost}.kept`)
    symlinkSync(lost, lost)
    const convertIt = () => convertMedia({ folder: media, key: own, to: 'encrypted' })
    await expect(convertIt()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cannot be read \(ELOOP.*run the command once more/),
    })
    rmSync(lost)
    renameSync(`${lost}.kept`, lost)
    expect(await convertIt()).toMatchObject({ left: [] })
    expect(withCanary(media)).toEqual([])
  })
})
