import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { type SessionId, toSessionId } from '../../../src/core/ids.ts'
import { loadOverridesCache } from '../../../src/sessions/lookups/overrides-cache.ts'
import { openSession } from '../../../src/sessions/turns/open-session.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { dispatchOf, ids, routeOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

/** Opens the sessions of some chats, whose ids are drawn from these, the last of them for ever. */
async function opened(chats: number, drawn: readonly string[]): Promise<readonly SessionId[]> {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  let draws = 0
  const session = () => toSessionId(drawn[Math.min(draws++, drawn.length - 1)] ?? '')
  const ports = {
    ids: { ...ids, session },
    channels: CHANNELS,
    overrides: await loadOverridesCache(store.read.sessions),
  }
  const made: SessionId[] = []
  for (let chat = 1; chat <= chats; chat++) {
    const opening = { route: routeOf(chat), identity: { role: 'member' }, dispatch: dispatchOf(chat, 1) } as const
    made.push((await store.write((tx) => openSession(tx, opening, ports))).id)
  }
  return made
}

it('S3: where two sessions draw the same id, another is drawn', async () => {
  expect(await opened(3, ['telegram:a', 'telegram:a', 'telegram:b', 'telegram:b', 'telegram:a', 'telegram:c'])).toEqual(
    ['telegram:a', 'telegram:b', 'telegram:c'],
  )
})

it('S3: where every id that is drawn is taken, the session is not opened', async () => {
  await expect(opened(2, ['telegram:a'])).rejects.toThrow('exists already')
})
