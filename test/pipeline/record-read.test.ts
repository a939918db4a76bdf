import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { Content } from '../../src/core/content.ts'
import type { ToolResultData } from '../../src/core/event.ts'
import { type MediaId, mediaId } from '../../src/core/ids.ts'
import type { AuthorId } from '../../src/core/platform-id.ts'
import { stepRecorder } from '../../src/pipeline/record-read.ts'
import type { StartedTurn } from '../../src/sessions/turns/started-turn.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { sessionDraft, turnOf, userMessage } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const WORDS = 'the words of Bob'
const FILE = mediaId('f'.repeat(64))
const CALL = { type: 'tool_call', data: { callId: 'c', tool: 't', args: {}, class: 'pure' } } as const
const CONTENT: Content = [
  { type: 'text', text: WORDS },
  { type: 'image', media: FILE, mime: 'image/png', size: 1 },
]

/** A turn whose tool reads what is said in another session. */
async function reading() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const [own, there, elsewhere] = [sessionDraft(1), sessionDraft(2), sessionDraft(3)]
  const turn = turnOf(own.id, 1)
  await store.write(async (tx) => {
    for (const session of [own, there, elsewhere]) await tx.sessions.create(session, 1)
    for (const { id } of [there, elsewhere]) await tx.events.append(id, 1, [userMessage(WORDS)])
    await tx.turns.start(turn)
  })
  const dropped: MediaId[] = []
  const files = { drop: async (media: readonly MediaId[]) => void dropped.push(...media) }
  const started = { id: turn.id, session: own } as unknown as StartedTurn
  const record = stepRecorder({ store, clock: systemClock, files }, started, await store.read.forgetting.removals())
  const result = (data: Partial<ToolResultData>) =>
    record({ type: 'tool_result', data: { callId: 'c', tool: 't', content: CONTENT, isError: false, ...data } })
  const forget = (session: typeof own) =>
    store.write((tx) => tx.events.append(session.id, 1, [{ type: 'words_forgotten', data: { by: 'x', events: 1 } }]))
  const log = async () => JSON.stringify(await store.read.events.since(own.id, 0, 50))
  return { store, there, elsewhere, record, result, forget, log, dropped }
}

it('S41: what a tool has read elsewhere is not kept if it was forgotten there before its result is on record', async () => {
  const { there, elsewhere, record, result, forget, log, dropped } = await reading()
  await forget(there)
  await record(CALL)
  await forget(elsewhere)
  expect(await result({ shows: [there.id] })).toBeUndefined()
  expect(await log()).toContain(WORDS)
  expect(dropped).toEqual([])
  await record(CALL)
  await forget(there)
  expect(await result({ shows: [there.id, elsewhere.id] })).toMatchObject({ isError: true })
  expect((await log()).split(WORDS)).toHaveLength(2)
  expect(dropped).toEqual([FILE])
})

it('S41: nor is it where a crash came between the call and its result, nor what was made of memories', async () => {
  const { there, elsewhere, record, result, forget, log } = await reading()
  await forget(there)
  expect(await result({ shows: [there.id] })).toMatchObject({ isError: true })
  await record(CALL)
  await forget(elsewhere)
  expect(await result({ authors: ['telegram:111' as AuthorId] })).toMatchObject({ isError: true })
  expect(await log()).not.toContain(WORDS)
  await record(CALL)
  expect(await result({ authors: ['telegram:111' as AuthorId] })).toBeUndefined()
  await forget(there)
  await record(CALL)
  expect(await result({})).toBeUndefined()
})
