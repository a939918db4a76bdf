import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

test('the log is emptied once next to nothing was written since the last look, and what it held is kept', async () => {
  const path = join(tempFolder(), 'parley.db')
  const store = await openSqliteStore({ path, clock: systemClock })
  onTestFinished(() => store.close())
  const size = () => statSync(`${path}-wal`).size
  const tell = (key: string) => store.write((tx) => tx.notices.once(key, 1, 1))
  for (let no = 0; no < 200; no++) await tell(`${no} ${'x'.repeat(2_000)}`)
  expect(size()).toBeGreaterThan(256 * 1024)
  expect(await store.emptyLog()).toBe(false)
  await tell('a watchdog')
  expect(await store.emptyLog()).toBe(true)
  expect(size()).toBe(0)
  expect(await tell('a watchdog')).toBe(false)
  expect(await store.emptyLog()).toBe(false)
})
