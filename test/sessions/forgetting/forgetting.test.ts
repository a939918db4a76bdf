import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { deferred } from '../../../src/core/deferred.ts'
import type { ForgetTarget } from '../../../src/core/forgetting.ts'
import type { TurnId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createForgetting } from '../../../src/sessions/forgetting/forgetting.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { deliveryOf, inboxRow, sessionDraft, turnCompleted, turnOf, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const NOW = 1_900_000_000_000
const CHAT: ForgetTarget = { kind: 'chat', place: { channel: 'telegram', chat: '-1001' }, before: NOW }
const PERSON: ForgetTarget = { kind: 'person', ids: ['telegram:111'], before: NOW }

/** A group in which Ada has said something; `before` happens right before the store is written the first time. */
async function rig(before: (store: Store) => Promise<unknown> = async () => {}) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = sessionDraft(1)
  const row = inboxRow(1, 5, { sessionId: session.id, state: 'done', outcome: 'context' })
  await store.write(async (tx) => {
    await tx.sessions.create(session, 1)
    await tx.authors.add(session.id, 'telegram:111')
    await tx.inbox.add(row)
  })
  let first = true
  const write: Store['write'] = async (work) => {
    if (first) await before(store)
    first = false
    return store.write(work)
  }
  const unsaid: TurnId[] = []
  const ended = deferred()
  const forgetting = createForgetting({
    ...{ clock: systemClock, logger: silentLogger, channels: CHANNELS },
    store: new Proxy(store, { get: (of, name) => (name === 'write' ? write : Reflect.get(of, name)) }),
    unsay: async (_, turn) => {
      unsaid.push(turn)
      return true
    },
    nextEnd: () => ended.promise,
    nextOutcome: async () => {},
    stopping: () => false,
    forgetFiles: async () => 0,
    sweepFiles: async () => 0,
    schedulesChanged: async () => {},
    backups: () => [],
    dropSchedule: async () => {},
    dropView: () => {},
  })
  return { store, session, forgetting, unsaid, ended }
}

it('S41: what came while it was looked for is forgotten too', async () => {
  const later = inboxRow(1, 6, { state: 'done', outcome: 'context' })
  const { store, forgetting } = await rig((store) => store.write((tx) => tx.inbox.add(later)))
  expect(await forgetting.forget('in_9', CHAT)).toMatchObject({ state: 'done', counts: { received: 2 } })
  expect(JSON.stringify(await store.read.inbox.get(later.id))).not.toContain('message 6')
})

it('S41: a turn that has only been shown a memory of it keeps its answer in the chat, and nothing of it here', async () => {
  const { store, session, forgetting, unsaid, ended } = await rig()
  const turn = turnOf(session.id, 1)
  const entry = {
    agentId: session.agentId,
    sessionId: session.id,
    text: 'tea',
    authors: ['telegram:111'],
    at: 1,
  } as const
  await store.write(async (tx) => {
    await tx.memory.add({ ...entry, by: 'person', request: 'command 1', sources: [] })
    await tx.turns.start(turn)
  })
  expect(await forgetting.forget('in_9', PERSON)).toMatchObject({ state: 'waits' })
  await store.write(async (tx) => {
    await tx.events.append(session.id, NOW, [userMessage('of Bob'), { ...turnCompleted, turnId: turn.id }])
    await tx.outbox.add([deliveryOf(turn.id, { state: 'sent' })])
    const usage = { input: 1, output: 1 }
    await tx.turns.finish(turn.id, { state: 'completed', outcome: 'answered', at: NOW, usage })
  })
  ended.resolve()
  await expect.poll(async () => (await store.read.forgetting.get('in_9'))?.state).toBe('done')
  expect(unsaid).toEqual([])
  expect((await store.read.outbox.ofTurn(turn.id)).map(({ part }) => part.text)).toEqual([''])
})

it('S41: a request of the same id is done once', async () => {
  const { forgetting } = await rig()
  const [one, two] = [await forgetting.forget('in_9', CHAT), await forgetting.forget('in_9', CHAT)]
  expect(two).toEqual(one)
  expect(await forgetting.known('in_9')).toEqual(one)
  expect(await forgetting.known('in_8')).toBeUndefined()
})
