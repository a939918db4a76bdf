import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createIdSource, toPersonId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createOwnerCards } from '../../../src/sessions/people/owner-cards.ts'
import { createOwnerChats } from '../../../src/sessions/people/owner-chats.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { direct } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const KEY = 'telegram:555'

it('S41: an applicant who is forgotten while the card about them is made stands on it by an id alone', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const ids = createIdSource({ now: Date.now, randomBytes })
  await store.write(async (tx) => {
    const asked = { code: 'k7f3d', name: 'zqx', address: direct('555'), traceId: ids.trace() }
    await tx.admissions.ask({ kind: 'person', key: KEY, ...asked }, 1)
  })
  const owners = createOwnerChats({
    channels: CHANNELS,
    stored: [{ platformId: 'telegram:111', address: direct('111'), at: 1 }],
    whoIs: () => ({ role: 'owner', person: toPersonId('ada') }),
    reaches: () => true,
  })
  const said: string[] = []
  const cards = await createOwnerCards({
    ...{ store, clock: systemClock, logger: silentLogger, ids, owners, closeCards: async () => {} },
    async say({ text }, when) {
      await store.write((tx) => tx.forgetting.unnameApplicant(KEY))
      if (await store.write(when)) said.push(text)
    },
  })
  await cards.notify()
  expect(said).toHaveLength(1)
  expect(said[0]).toContain(KEY)
  expect(said[0]).not.toContain('zqx')
})
