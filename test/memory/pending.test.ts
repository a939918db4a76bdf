import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createPending } from '../../src/memory/pending.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const sender = { id: '111', kind: 'user', displayName: 'Ada' } as const
const data = { text: 'tea?', sender, owner: false, addressed: false, triggers: false } as const

it('S35: after a start the quiet messages of a log count, and those that the queue refused do not', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const append = (event: EventToAppend) => store.write((tx) => tx.events.append(draft.id, 1, [event]))
  const settings = { turns: 5, quietGroupMessages: 2, idleMinutes: 10 }
  const isDue = () => createPending({ store, clock: systemClock, settings }).count(draft.id, 'quiet')
  await store.write((tx) => tx.sessions.create(draft, 1))
  await append({ type: 'user_message', data })
  await append({ type: 'user_message', data: { ...data, refused: true } })
  expect(await isDue()).toBe(false)
  await append({ type: 'user_message', data })
  expect(await isDue()).toBe(true)
})
