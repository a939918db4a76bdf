import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { purgeLeftovers } from '../../src/sessions/service/delete-session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { sessionDraft, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'deleted-ids'),
)

it('a session that an earlier version deleted and did not purge is purged, and its id is free at once', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  const { id } = await old.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  await old.write((tx) => tx.events.append(id, 1, [userMessage('my secret')]))
  await old.write((tx) => tx.participants.add(id, 'telegram:444', 1))
  await old.write((tx) => tx.authors.add(id, 'telegram:555'))
  await old.close()
  withDatabase(path, (database) => database.exec('UPDATE sessions SET deleted_at = 2; DELETE FROM scopes'))
  const store = await openSqliteStore({ path, clock: systemClock })
  await store.write((tx) => tx.sessions.create(sessionDraft(1, { id }), 3))
  expect(await store.read.authors.of(id)).toEqual([])
  await purgeLeftovers(store, () => false)
  expect(await store.read.sessions.get(id)).toMatchObject({ id })
  expect(await store.read.sessions.deleted(9)).toEqual([])
  await store.close()
  expect(withDatabase(path, (database) => database.prepare('SELECT COUNT(*) AS n FROM events').get())).toEqual({ n: 0 })
})
