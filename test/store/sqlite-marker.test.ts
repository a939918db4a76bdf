import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const open = (path: string, clock = systemClock) => openSqliteStore({ path, clock })
const say = (store: Store, value: string) =>
  store.write((tx) => tx.channelState.set('telegram', toAccountId('default'), 'a', value))

const copyTo = (path: string, copy: string) => withDatabase(path, (database) => database.exec(`VACUUM INTO '${copy}'`))

/** A database of which a copy was made while it was open, and which went on. Closed. */
async function copied(): Promise<{ path: string; copy: string }> {
  const path = join(tempFolder(), 'parley.db')
  const copy = `${path}.copy`
  const store = await open(path)
  await say(store, 'before')
  copyTo(path, copy)
  await say(store, 'after')
  await store.close()
  return { path, copy }
}

const found = async (path: string) => {
  const store = await open(path)
  const latest = await store.read.restorations.latest()
  await store.close()
  return latest
}

describe('F-F08: the marker beside the database', () => {
  it('tells a copy that was put back, with the time it was written last', async () => {
    const { path, copy } = await copied()
    const begun = Date.now()
    copyFileSync(copy, path)
    const restoration = await found(path)
    expect(restoration).toMatchObject({ state: 'found' })
    expect(restoration?.lastAt).toBeLessThanOrEqual(begun)
    expect(restoration?.at).toBeGreaterThanOrEqual(begun)
  })

  it('tells it once, however often the store is opened before anybody acts on it', async () => {
    const { path, copy } = await copied()
    copyFileSync(copy, path)
    const first = await found(path)
    expect(await found(path)).toEqual(first)
  })

  it('tells a later copy too, put back next because the first was the wrong one', async () => {
    const path = join(tempFolder(), 'parley.db')
    const clock = steppedClock()
    const store = await open(path, clock)
    for (const day of ['first', 'second', 'third']) {
      copyTo(path, `${path}.${day}`)
      for (let minute = 0; minute < 3; minute++) {
        clock.moveTo(clock.now() + 60_000)
        await say(store, `${day}, ${minute}`)
      }
    }
    await store.close()
    for (const day of ['second', 'first', 'third']) {
      copyFileSync(`${path}.${day}`, path)
      expect(await found(path)).toMatchObject({ state: 'found' })
    }
  })

  it('tells the next one as well where the clock was set back in between', async () => {
    const { path, copy } = await copied()
    copyFileSync(copy, path)
    const clock = steppedClock(Date.UTC(2040, 0, 1))
    const store = await open(path, clock)
    await store.write((tx) => tx.restorations.hold())
    await store.write((tx) => tx.restorations.discard('an owner chose'))
    copyTo(path, `${path}.next`)
    clock.moveTo(clock.now() + 60_000)
    await say(store, 'after')
    await store.close()
    copyFileSync(`${path}.next`, path)
    const restoration = await found(path)
    expect(restoration).toMatchObject({ state: 'found' })
    expect(restoration?.at).toBeLessThanOrEqual(Date.now())
  })

  it('was found no later than the last write, where the clock was ahead then and has been set', async () => {
    const { path, copy } = await copied()
    copyFileSync(copy, path)
    const clock = steppedClock(Date.UTC(2040, 0, 1))
    const store = await open(path, clock)
    await store.write((tx) => tx.restorations.hold())
    clock.setBy(Date.UTC(2026, 0, 1) - clock.now())
    clock.moveTo(clock.now() + 60_000)
    await say(store, 'with the clock set')
    await store.close()
    expect(await found(path)).toMatchObject({ state: 'held', at: clock.now() })
  })

  it('says nothing after a stop of any length, with the clock set in either direction', async () => {
    const { path } = await copied()
    for (const at of [0, Date.UTC(2040, 0, 1), Date.UTC(2001, 0, 1)]) {
      const store = await open(path, steppedClock(at))
      await say(store, String(at))
      expect(await store.read.restorations.latest()).toBeUndefined()
      await store.close()
    }
  })

  it('tells a copy that was made before the marker could once not be raised', async () => {
    const path = join(tempFolder(), 'parley.db')
    const clock = steppedClock()
    const store = await open(path, clock)
    copyTo(path, `${path}.copy`)
    withDatabase(path, (database) =>
      database.exec("CREATE TRIGGER full BEFORE UPDATE ON counters BEGIN SELECT RAISE(ABORT, 'full'); END"),
    )
    clock.moveTo(clock.now() + 60_000)
    await say(store, 'after')
    withDatabase(path, (database) => database.exec('DROP TRIGGER full'))
    await store.close()
    copyFileSync(`${path}.copy`, path)
    expect(await found(path)).toMatchObject({ state: 'found' })
  })

  it('says nothing of a database that was begun anew, nor where it holds no number or is gone', async () => {
    const { path } = await copied()
    writeFileSync(`${path}.marker`, 'nonsense\n')
    expect(await found(path)).toBeUndefined()
    rmSync(`${path}.marker`)
    expect(await found(path)).toBeUndefined()
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    expect(await found(path)).toBeUndefined()
  })

  it('is not needed where a restore has marked the copy itself', async () => {
    const { path, copy } = await copied()
    withDatabase(copy, (database) => database.exec("INSERT INTO counters (name, value) VALUES ('restored', 1)"))
    copyFileSync(copy, path)
    rmSync(`${path}.marker`)
    expect(await found(path)).toMatchObject({ state: 'found' })
  })

  it('is written at most once a second and at the end, for its owner alone, and leaves nothing beside it', async () => {
    const path = join(tempFolder(), 'parley.db')
    const clock = steppedClock()
    const store = await open(path, clock)
    const mark = () => Number(readFileSync(`${path}.marker`, 'utf8'))
    const begun = mark()
    for (const value of ['1', '2', '3']) await say(store, value)
    expect(mark()).toBe(begun)
    clock.moveTo(clock.now() + 1_000)
    await say(store, '4')
    await say(store, '5')
    expect(mark()).toBe(begun + 1)
    await store.close()
    expect(mark()).toBe(begun + 2)
    expect(statSync(`${path}.marker`).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(path, '..')).filter((name) => name.includes('partial'))).toEqual([])
  })
})
