import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Session } from '../../../src/core/session.ts'
import { claimWaiting, steerWaiting } from '../../../src/sessions/turns/record-turn.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { user } from '../../fakes/dispatch.ts'
import { nobodyParted } from '../../fakes/parting.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { decisionOf, dispatchOf, ids, inboxRow, messageOf, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const TELEGRAM = parseAddress('telegram:direct:111')
const queue = createTurnQueue(10)
let store: Store
let session: Session

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
})

it('a turn whose answer is read elsewhere takes in nothing that is said in the chat meanwhile', async () => {
  const turn = { ...turnOf(session.id, 1), reply: { address: TELEGRAM, elsewhere: 'only' } as const }
  const dispatch = { ...dispatchOf(1, 1), reply: { address: TELEGRAM } }
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.inbox.add(inboxRow(1, 1, { dispatch, sessionId: session.id }))
  })
  expect(
    await store.write((tx) => steerWaiting(tx, { ...turn, session }, 2, { queue, parting: nobodyParted })),
  ).toEqual([])
  expect(await store.read.inbox.waiting(session.id, 10)).toHaveLength(1)
})

it('a turn that answers several strangers of a group is counted for the one who wrote last', async () => {
  for (const [no, id] of ['111', '9001'].entries()) {
    const dispatch = { ...dispatchOf(1, no), event: { ...messageOf(1, no), sender: user(id) } }
    const decision = { ...decisionOf(1), public: true } as const
    await store.write((tx) => tx.inbox.add(inboxRow(1, no, { dispatch, decision, sessionId: session.id })))
  }
  const turn = await store.write((tx) =>
    claimWaiting(tx, session, 2, { ids, queue, parting: nobodyParted, adopts: () => undefined }),
  )
  expect(turn && (await store.read.inbox.ofTurn(turn.id))).toHaveLength(2)
  expect(turn).toMatchObject({ publicFor: 'telegram:9001' })
})
