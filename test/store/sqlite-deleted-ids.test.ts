import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { purgeLeftovers } from '../../src/sessions/service/delete-session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'deleted-ids'),
)

it('a session that an earlier version deleted and did not purge is purged, and its id is free at once', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  await old.close()
  const { id, scopeKey } = sessionDraft(1)
  withDatabase(path, (database) => {
    database
      .prepare(`INSERT INTO sessions (no, id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata,
        created_at, deleted_at) VALUES (1, ?, ?, '{}', 'main', 'other', 'x', 'direct', '{}', '{}', 1, 2)`)
      .run(id, scopeKey)
    database
      .prepare("INSERT INTO events (session_no, seq, at, type, data) VALUES (1, 1, 1, 'user_message', '{}')")
      .run()
    database.prepare("INSERT INTO participants VALUES (?, 'telegram:444', 1)").run(id)
    database.prepare("INSERT INTO authors VALUES (?, 'telegram:555')").run(id)
  })
  const store = await openSqliteStore({ path, clock: systemClock })
  await store.write((tx) => tx.sessions.create(sessionDraft(1, { id }), 3))
  expect(await store.read.authors.of(id)).toEqual([])
  await purgeLeftovers(store, () => false)
  expect(await store.read.sessions.get(id)).toMatchObject({ id })
  expect(await store.read.sessions.deleted(9)).toEqual([])
  await store.close()
  expect(withDatabase(path, (database) => database.prepare('SELECT COUNT(*) AS n FROM events').get())).toEqual({ n: 0 })
})
