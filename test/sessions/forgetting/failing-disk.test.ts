import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { createChannels } from '../../../src/core/channel-traits.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createForgetting } from '../../../src/sessions/forgetting/forgetting.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

/** Forgetting over a store of its own, of which a test replaces what fails. */
async function forgettingOver(replaced: PropertyDescriptorMap, forgetFiles: () => Promise<number>) {
  const opened = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => opened.close())
  const store: typeof opened = Object.create(opened, replaced)
  const forgetting = createForgetting({
    ...{ store, clock: systemClock, logger: silentLogger, channels: createChannels({}) },
    ...{ sweepFiles: async () => 0, forgetFiles },
    ...{ nextEnd: async () => {}, nextOutcome: async () => {}, schedulesChanged: async () => {} },
    ...{ unsay: async () => true, dropSchedule: async () => {}, dropView: () => {} },
    ...{ backups: () => [], stopping: () => false },
  })
  return { opened, forgetting }
}

const place = parseAddress('telegram:direct:111')

it('S41: where a file cannot be deleted it is said in words, no byte of the rest is left, and it is tried again', async () => {
  let scrubs = 0
  let isReadOnly = true
  const scrub = (): Promise<boolean> => {
    scrubs++
    return opened.scrub()
  }
  const { opened, forgetting } = await forgettingOver({ scrub: { value: scrub } }, async () => {
    if (isReadOnly) throw new Error('EROFS: read-only file system')
    return 1
  })
  const asked = forgetting.forget('in_1', { kind: 'chat', place, before: systemClock.now() })
  await expect(asked).rejects.toThrow(
    /^It is not forgotten as a whole yet: a file of it cannot be deleted from my disk now; everything else of it is gone/,
  )
  expect(scrubs).toBe(1)
  isReadOnly = false
  expect(await forgetting.known('in_1')).toMatchObject({ state: 'done', counts: { files: 1 } })
})

it('S41: where the disk is full in the middle, whoever asked learns that it goes on', async () => {
  let writes = 0
  let isFull = true
  const write: Store['write'] = (body) => {
    if (isFull && ++writes > 1)
      return Promise.reject(new ParleyError('unavailable', 'the disk of the database is full; free some space'))
    return opened.write(body)
  }
  const { opened, forgetting } = await forgettingOver({ write: { value: write } }, async () => 0)
  const asked = forgetting.forget('in_1', { kind: 'chat', place, before: systemClock.now() })
  await expect(asked).rejects.toThrow(
    'It is not forgotten as a whole yet: the disk of the database is full; free some space. I try again within the hour, and at my next start.',
  )
  isFull = false
  expect(await forgetting.known('in_1')).toMatchObject({ state: 'done' })
})
