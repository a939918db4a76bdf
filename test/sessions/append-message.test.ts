import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { appendMessage } from '../../src/sessions/append-message.ts'
import { createParticipants } from '../../src/sessions/participants.ts'
import { createTranscript } from '../../src/sessions/transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { sessionDraft } from '../store/sample-rows.ts'

const SENDER = { id: '444', kind: 'user', displayName: 'Bob' } as const

async function open() {
  const store = await openSqliteStore({ path: join(await localFolder(), 'store.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  const told: unknown[] = []
  const deps = {
    store,
    clock: systemClock,
    participants: createParticipants(),
    emit: (_session: unknown, appended: unknown) => void told.push(appended),
  }
  return { store, session, told, deps }
}

it('S32: an appended message is stored and told, makes its sender a participant, and no turn comes of it', async () => {
  const { store, session, told, deps } = await open()
  const appended = await appendMessage(deps, {
    session,
    text: 'rain at noon',
    sender: SENDER,
    participant: 'telegram:444',
  })
  expect(told).toEqual([appended])
  expect(await store.read.events.latest(session.id, 9)).toMatchObject([
    { seq: appended.seq, type: 'user_message', data: { text: 'rain at noon', triggers: false } },
  ])
  expect(await store.read.turns.running()).toEqual([])
  expect(await store.read.inbox.waitingCount()).toBe(0)
  const limits = { turns: 9, contextMessages: 9, contextCharacters: 900 }
  const { pending } = await createTranscript(store.read.events, limits).view(session)
  expect(pending.map(({ text }) => text)).toEqual(['rain at noon'])
})

it('S32: what cannot be stored is not told', async () => {
  const { told, deps } = await open()
  const nowhere = { id: 'telegram:nowhere' as SessionId, chatType: 'group' } as const
  await expect(appendMessage(deps, { session: nowhere, text: 'hello', sender: SENDER })).rejects.toMatchObject({
    code: 'not_found',
  })
  const empty = { session: nowhere, text: ' ', sender: SENDER }
  await expect(appendMessage(deps, empty)).rejects.toMatchObject({ code: 'invalid' })
  expect(told).toEqual([])
})
