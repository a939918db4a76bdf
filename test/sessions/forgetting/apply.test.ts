import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { NO_PLAN } from '../../../src/core/forgetting.ts'
import { beginApplying, pieces } from '../../../src/sessions/forgetting/apply.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { commandOf, inboxRow, sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

it('S41: a message that waits and is forgotten is answered no more; a command that waits is carried out', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = sessionDraft(1)
  const message = inboxRow(1, 5, { sessionId: session.id })
  const command = inboxRow(1, 6, { decision: commandOf(1) })
  const inbox = [message.id, command.id]
  await store.write(async (tx) => {
    await tx.sessions.create(session, 1)
    for (const row of [message, command]) await tx.inbox.add(row)
  })
  const states = async () => Promise.all(inbox.map(async (id) => (await store.read.inbox.get(id))?.state))
  const plan = { ...NO_PLAN, inbox }
  await store.write((tx) => beginApplying(tx, 'forget 1', plan, { dropSchedule: async () => {}, dropView: () => {} }))
  expect(await states()).toEqual(['done', 'waiting'])
  expect(await store.read.inbox.waiting(session.id, 5)).toEqual([])
  for (const piece of pieces(plan)) await store.write(async (tx) => void (await piece(tx)))
  expect(await states()).toEqual(['done', 'waiting'])
  expect(JSON.stringify(await store.read.inbox.get(message.id))).not.toContain('message 5')
})
