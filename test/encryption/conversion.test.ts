import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
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
})
