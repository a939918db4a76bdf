import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { toAccountId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { lookAtHost } from '../../src/daemon/watch-host.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { withDatabase } from '../store/temp-database.ts'
import { recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000

async function folder() {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-host-'))
  const clock = setClock('2026-11-01T08:00:00Z')
  const store = await openSqliteStore({ path: join(dataDir, 'parley.db'), clock })
  onTestFinished(async () => {
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
  const notices: string[] = []
  let reached = true
  const look = () =>
    lookAtHost({
      ...{ config: { dataDir, store: { path: join(dataDir, 'parley.db') } }, clock, store, logger: silentLogger },
      where: { channel: 'telegram', account: toAccountId('default') },
      async notifyOwners(_where, { text }) {
        if (reached) notices.push(text)
        return reached
      },
    })
  return {
    ...{ dataDir, clock, notices },
    backup: (more: object) => writeFileSync(join(dataDir, 'last-backup'), JSON.stringify({ path: '/', ...more })),
    /** Looks; nobody answers meanwhile, and the wait for that is over at once. */
    async look(): Promise<string[]> {
      const looked = look()
      await clock.timerOf(60_000).then(() => clock.skip(60_000))
      await looked
      return notices.splice(0)
    },
    reach: (yes: boolean) => {
      reached = yes
    },
  }
}

it('owners get one notice of what is worse than an hour ago, and none while it stays so, also after a restart', async () => {
  const { backup, clock, look, dataDir } = await folder()
  backup({ at: clock.now() })
  expect(await look()).toEqual([])
  clock.skip(20 * DAY)
  const [text, ...more] = await look()
  expect(more).toEqual([])
  expect(text).toMatch(/backup: the last backup is 20 d old\. parley backup/)
  expect(text).toContain('parley doctor')
  expect(await look()).toEqual([])
  // It gets worse a second time once it was well in between.
  backup({ at: clock.now() })
  expect(await look()).toEqual([])
  backup({ at: clock.now(), failedAt: clock.now(), reason: 'the disk is full' })
  expect(await look()).toEqual([expect.stringContaining('the last backup failed: the disk is full')])
  chmodSync(dataDir, 0o777)
  expect(await look()).toEqual([expect.stringContaining(`chmod 700 ${dataDir}`)])
})

it('the first look of all says what has failed, and nothing of a machine that nobody has mended yet', async () => {
  const { backup, clock, look } = await folder()
  expect(await look()).toEqual([])
  backup({ failedAt: clock.now(), reason: 'no room' })
  expect(await look()).toEqual([expect.stringContaining('no room')])
})

it('a notice that no owner got is tried again an hour later', async () => {
  const { backup, clock, look, reach } = await folder()
  backup({ at: clock.now() })
  await look()
  backup({ failedAt: clock.now(), reason: 'no room' })
  reach(false)
  expect(await look()).toEqual([])
  reach(true)
  expect(await look()).toEqual([expect.stringContaining('no room')])
})

it('a daemon looks each hour, and its owner reads what got worse', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const home = await startHousehold({ streaming: false, clock })
  const { world, ledger } = home.telegram
  world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent')
  await recorded(home)
  const count = (query: string): unknown =>
    withDatabase(join(home.dataDir, 'parley.db'), (database) => database.prepare(query).pluck().get())
  /** A look waits a minute for an answer. */
  const later = (query: string) => () => {
    clock.skip(60_000)
    return count(query)
  }
  await expect
    .poll(later("SELECT COUNT(*) FROM channel_state WHERE key = 'host' AND value LIKE '%backup/age%'"))
    .toBe(1)
  writeFileSync(join(home.dataDir, 'last-backup'), JSON.stringify({ failedAt: clock.now(), reason: 'no room' }))
  await expect.poll(later("SELECT COUNT(*) FROM notices WHERE key LIKE '%host:%'")).toBe(1)
  const { text } = await ledger.nextFromBot('sent', { after: 0, where: (sent) => sent.text.includes('got worse') })
  expect(text).toContain('no room')
})
