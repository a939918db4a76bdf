import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Namespace } from '../../src/core/caller.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type SessionId, toAgentId } from '../../src/core/ids.ts'
import type { SessionDraft } from '../../src/core/session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { addOldSession } from './old-sessions.ts'
import { sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'session-lists'),
)

const OLD: readonly Partial<SessionDraft>[] = [
  { kind: 'main', displayKey: 'main' },
  { kind: 'other', displayKey: 'direct:ada' },
  { kind: 'other', displayKey: 'agent:house:direct:ada', agentId: toAgentId('house') },
  { kind: 'other', displayKey: 'telegram:direct:1' },
  { kind: 'other', displayKey: 'agent:house:telegram:direct:1', agentId: toAgentId('house') },
]

it('S42: sessions of older versions that join chats of several channels leave the lists of the one in their ids', async () => {
  const path = join(tempFolder(), 'store.db')
  await (await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })).close()
  for (const [no, draft] of OLD.entries())
    addOldSession(path, sessionDraft(no, { id: `telegram:${no}` as SessionId, ...draft }))
  const store = await openSqliteStore({ path, clock: systemClock })
  const listed = async () => {
    const { sessions, total } = await store.read.lists.page({
      ...{ limit: 200, inactive: true, namespace: 'telegram' as Namespace },
    })
    return [total, sessions.map(({ id }) => `${id}`).sort()]
  }
  expect(await listed()).toEqual([2, ['telegram:3', 'telegram:4']])
  expect((await store.read.lists.page({ limit: 200, inactive: true })).total).toBe(5)
  expect([...(await store.read.lists.joined())].sort()).toEqual(['telegram:0', 'telegram:1', 'telegram:2'])
  for (let no = 0; no < OLD.length; no++)
    await store.write((tx) => tx.sessions.reopen(`telegram:${no}` as SessionId, {}, systemClock.now()))
  expect(await listed()).toEqual([2, ['telegram:3', 'telegram:4']])
  await store.close()
})
