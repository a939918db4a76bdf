import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { type Address, formatAddress } from '../../src/core/address.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { InboxRow } from '../../src/store/inbox-port.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { Store } from '../../src/store/store.ts'
import { userMessage } from '../fakes/session-events.ts'
import { addOldEvents, addOldSession } from './old-sessions.ts'
import { addressOf, dispatchOf, inboxRow, messageOf, sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'named-messages'),
)

let path: string
let old: Store
let session: SessionId
let events: { readonly type: string; readonly data: unknown }[]

beforeEach(async () => {
  path = join(tempFolder(), 'store.db')
  const open = () => openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  await (await open()).close()
  const draft = sessionDraft(1)
  addOldSession(path, draft)
  session = draft.id
  events = []
  old = await open()
})

interface Said {
  readonly address?: Address
  readonly sender?: string
  /** It was heard and waits for nothing. */
  readonly heard?: true
  /** It is an edit of message 1. */
  readonly edit?: true
}

/** Something is said in the one session; all of it has the platform's message id 1, unless it is numbered. */
async function say(key: number, text: string, said: Said = {}, messageId = '1'): Promise<InboxRow['id']> {
  const { address = addressOf(1), sender: id = '111', heard, edit } = said
  const sender = { id, kind: 'user' } as const
  const message = { ...messageOf(1, key, text), messageId, address, sender }
  const event = edit ? ({ ...message, kind: 'edit', original: '1:1' } as const) : message
  const row = inboxRow(1, key, { sessionId: session, dispatch: { ...dispatchOf(1, key), event } })
  const data = userMessage(text, { messageId, sender, chat: formatAddress(address), triggers: !heard })
  await old.write((tx) => tx.inbox.add(heard ? { ...row, state: 'done', outcome: 'context' } : row))
  events.push({ type: edit ? 'message_edited' : 'user_message', data })
  return row.id
}

/** The names in the log after the upgrade. */
async function upgraded(): Promise<readonly (string | undefined)[]> {
  await old.close()
  addOldEvents(path, events)
  const store = await openSqliteStore({ path, clock: systemClock })
  const stored = await store.read.events.latest(session, 10)
  await store.close()
  return stored.map(({ data }) => ('row' in data ? data.row : undefined))
}

it('an older database: what waits is named in the log by its row, and nothing else is', async () => {
  const first = await say(1, 'waits')
  await say(2, 'was only heard', { heard: true }, '2')
  const third = await say(3, 'waits, with a "quote"', {}, '3')
  expect(await upgraded()).toEqual([first, undefined, third])
})

it('an older database: equal words under equal numbers are told apart by chat, sender and edit', async () => {
  const names = [
    await say(1, 'yes'),
    await say(2, 'yes', { address: addressOf(2) }),
    await say(3, 'yes', { sender: '222' }),
    await say(4, 'yes', { edit: true }),
  ]
  expect(await upgraded()).toEqual(names)
})

it('an older database: what waits of a group that has another id by now is named too', async () => {
  const row = await say(1, 'waits')
  withDatabase(path, (database) => {
    const moved = 'replace(dispatch, \'"chat":"-1001"\', \'"chat":"-1009"\')'
    expect(database.prepare(`UPDATE inbox SET dispatch = ${moved}`).run().changes).toBe(1)
  })
  expect(await upgraded()).toEqual([row])
})

it('an older database: a row that cannot be read gets no name, and stops no upgrade', async () => {
  const first = await say(1, 'waits')
  await say(2, 'a broken row', {}, '2')
  withDatabase(path, (database) => {
    database.exec("UPDATE inbox SET dispatch = '{broken' WHERE message_id = '2'")
  })
  expect(await upgraded()).toEqual([first, undefined])
})
