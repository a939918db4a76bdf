import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { createChannels } from '../../../src/core/channel-traits.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createForgetting } from '../../../src/sessions/forgetting/forgetting.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

it('S41: where a file cannot be deleted it is said in words, no byte of the rest is left, and it is tried again', async () => {
  const opened = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => opened.close())
  let scrubs = 0
  const scrub = (): Promise<boolean> => {
    scrubs++
    return opened.scrub()
  }
  const store = Object.create(opened, { scrub: { value: scrub } }) as typeof opened
  let isReadOnly = true
  const forgetting = createForgetting({
    ...{ store, clock: systemClock, logger: silentLogger, channels: createChannels({}) },
    sweepFiles: async () => 0,
    forgetFiles: async () => {
      if (isReadOnly) throw new Error('EROFS: read-only file system')
      return 1
    },
    ...{ nextEnd: async () => {}, nextOutcome: async () => {}, schedulesChanged: async () => {} },
    ...{ unsay: async () => true, dropSchedule: async () => {}, dropView: () => {} },
    ...{ backups: () => [], stopping: () => false },
  })
  const place = parseAddress('telegram:direct:111')
  const asked = forgetting.forget('in_1', { kind: 'chat', place, before: systemClock.now() })
  await expect(asked).rejects.toThrow(/^A file of it cannot be deleted from my disk now; everything else of it is gone/)
  expect(scrubs).toBe(1)
  isReadOnly = false
  expect(await forgetting.known('in_1')).toMatchObject({ state: 'done', counts: { files: 1 } })
})
