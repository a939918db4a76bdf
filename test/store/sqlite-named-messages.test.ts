import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { EventToAppend } from '../../src/store/store.ts'
import { userMessage } from '../fakes/session-events.ts'
import { dispatchOf, inboxRow, messageOf, sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'named-messages'),
)

it('an older database: what waits is named in the log by its row, and nothing else is', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  const { id: session } = await old.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  const said = async (no: number, text: string, waits: boolean) => {
    const message = messageOf(1, no, text)
    const row = inboxRow(1, no, { sessionId: session, dispatch: { ...dispatchOf(1, no), event: message } })
    const data = userMessage(text, { messageId: message.messageId, triggers: waits })
    const event: EventToAppend = { type: 'user_message', data }
    await old.write(async (tx) => {
      await tx.inbox.add(waits ? row : { ...row, state: 'done', outcome: 'context' })
      await tx.events.append(session, 1, [event])
    })
    return row.id
  }
  const [first, , third] = [
    await said(1, 'waits', true),
    await said(2, 'was only heard', false),
    await said(3, 'waits, with a "quote"', true),
  ]
  await old.close()
  const store = await openSqliteStore({ path, clock: systemClock })
  const events = await store.read.events.latest(session, 10)
  expect(events.map(({ data }) => ('text' in data ? [data.text, 'row' in data ? data.row : undefined] : []))).toEqual([
    ['waits', first],
    ['was only heard', undefined],
    ['waits, with a "quote"', third],
  ])
  await store.close()
})
