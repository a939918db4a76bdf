import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ChannelHub } from '../../src/channels/hub.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { Measures } from '../../src/core/measures.ts'
import { makeHealth } from '../../src/daemon/make-health.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

test('nothing is ready before the channels begin, and without any account all is from then on', async () => {
  const base = { clock: systemClock, logger: silentLogger }
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), ...base })
  onTestFinished(() => store.close())
  const hub = new ChannelHub(base)
  const live = { readers: 0 }
  const health = makeHealth({ store, hub, clock: systemClock, measures: new Measures(), live })
  expect(await health.ready()).toEqual({ status: 'starting', channels: [], store: true })
  hub.start([], () => {})
  expect(await health.ready()).toEqual({ status: 'ready', channels: [], store: true })
})
