import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import type { Session } from '../../../src/core/session.ts'
import { acceptAmendment, findOriginal } from '../../../src/sessions/turns/accept-amendment.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { dispatchOf, ids, inboxRow, messageOf, sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

let store: Store
let session: Session

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
})

async function heard(changes: Partial<NewInboxRow> = {}): Promise<NewInboxRow> {
  const row = inboxRow(1, 1, { sessionId: session.id, ...changes })
  await store.write((tx) => tx.inbox.add(row))
  return row
}

/** An edit of message 1, by this sender. */
function editBy(id: string): Dispatch {
  const message = messageOf(1, 1, 'corrected')
  const event = { ...message, kind: 'edit', eventKey: '1:1#2', original: '1:1', sender: { id, kind: 'user' } } as const
  return { ...dispatchOf(1, 2), event }
}

const originalOf = (dispatch: Dispatch) => store.write((tx) => findOriginal(tx, dispatch))

describe('a message that is deleted', () => {
  it('owes no turn any more by any text of it that waits, by an edit neither', async () => {
    await heard({ state: 'done', outcome: 'answered' })
    const edit = editBy('111')
    await store.write((tx) => tx.inbox.add(inboxRow(1, 2, { dispatch: edit, sessionId: session.id })))
    const event = { ...edit.event, kind: 'delete', eventKey: '1:1#3' } as unknown as Dispatch['event']
    const decision = { kind: 'amend', reason: 'deleted', identity: { role: 'guest' }, trace: [] } as const
    const amended = { id: ids.inbox(), dispatch: { ...edit, event }, decision }
    expect(await store.write((tx) => acceptAmendment(tx, amended, CHANNELS))).toBe(true)
    expect(await store.read.inbox.waiting(session.id, 10)).toEqual([])
  })

  it('is deleted in the session begun since, too, where an edit of it waits', async () => {
    await heard({ state: 'done', outcome: 'answered' })
    const fresh = await store.write((tx) => tx.sessions.create(sessionDraft(2), 1))
    const edit = editBy('111')
    await store.write((tx) => tx.inbox.add(inboxRow(1, 2, { dispatch: edit, sessionId: fresh.id })))
    const event = { ...edit.event, kind: 'delete', eventKey: '1:1#3' } as unknown as Dispatch['event']
    const decision = { kind: 'amend', reason: 'deleted', identity: { role: 'guest' }, trace: [] } as const
    const amended = { id: ids.inbox(), dispatch: { ...edit, event }, decision }
    expect(await store.write((tx) => acceptAmendment(tx, amended, CHANNELS))).toBe(true)
    expect(await store.read.inbox.waiting(fresh.id, 10)).toEqual([])
    for (const { id } of [session, fresh])
      expect(await store.read.events.latest(id, 10)).toMatchObject([{ type: 'message_deleted' }])
  })
})

describe('findOriginal', () => {
  it('is the message as it was first told', async () => {
    const { id } = await heard()
    expect(await originalOf(editBy('111'))).toMatchObject({ id, sessionId: session.id })
  })

  it("takes nobody's edit of what somebody else wrote", async () => {
    await heard()
    expect(await originalOf(editBy('222'))).toBeUndefined()
  })

  it('is nothing that no model was to see', async () => {
    await heard({ state: 'done', outcome: 'refused: queue_full' })
    expect(await originalOf(editBy('111'))).toBeUndefined()
  })

  it('is nothing in another account', async () => {
    await heard()
    const edit = editBy('111')
    const event = { ...edit.event, address: { ...edit.event.address, channel: 'slack' } } as Dispatch['event']
    expect(await originalOf({ ...edit, event })).toBeUndefined()
  })
})
