import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { newCommand } from '../../src/sessions/commands/new.ts'
import { loadOverridesCache } from '../../src/sessions/lookups/overrides-cache.ts'
import { markDeleted } from '../../src/sessions/service/delete-session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { commandCall } from '../fakes/command-call.ts'
import { direct } from '../fakes/dispatch.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { ids, sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const call = commandCall('new', '', { address: direct('111') })
const { scopeKey } = call.decision.route
let store: Store
let id: SessionId

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  ;({ id } = await store.write((tx) => tx.sessions.create(sessionDraft(1, { scopeKey, chatType: 'direct' }), 1_000)))
  const said = {
    text: 'hello',
    sender: { id: '111', kind: 'user' },
    owner: true,
    addressed: true,
    triggers: true,
  } as const
  await store.write((tx) => tx.events.append(id, 1_000, [{ type: 'user_message', data: said }]))
})

/** `/new` while a turn runs; `meanwhile` happens before that turn has ended. */
async function startOver(meanwhile: () => Promise<unknown>) {
  const overrides = await loadOverridesCache(store.read.sessions)
  const abort = async (): Promise<void> => void (await meanwhile())
  const said = await newCommand({
    store,
    clock: systemClock,
    ids,
    channels: CHANNELS,
    running: { abort },
    overrides,
    memory: { checkpoints: { async oweLast() {}, runLast() {} } },
  }).run(call)
  return { said, overrides, current: await store.read.sessions.current(scopeKey) }
}

describe('/new while a turn is ending', () => {
  it('S10, T26: what /send off sets meanwhile goes with the conversation', async () => {
    const { current, overrides } = await startOver(() =>
      store.write((tx) => tx.sessions.patchOverrides(id, { set: { sendPolicy: 'deny' }, inherit: [] })),
    )
    expect(current?.id).not.toBe(id)
    expect([current?.sendPolicy, overrides.send(scopeKey)]).toEqual(['deny', 'deny'])
  })

  it('S10: a second /new leaves one session active', async () => {
    const { current } = await startOver(() => startOver(async () => {}))
    const active = (await store.read.sessions.list({ limit: 9, offset: 0, inactive: false })).sessions
    expect(active.map((session) => session.id)).toEqual([current?.id])
  })

  it('S10, S40: a session that is deleted meanwhile is not missed', async () => {
    const { said, current } = await startOver(() =>
      store.write(async (tx) => {
        const session = await tx.sessions.get(id)
        if (session) await markDeleted(tx, session, 2_000)
      }),
    )
    expect([said, current]).toEqual(['This conversation is fresh already.', undefined])
  })
})
