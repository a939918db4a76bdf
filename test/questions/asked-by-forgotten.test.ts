import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createQuestions, type QuestionDeps } from '../../src/questions/question-service.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { ids, inboxRow, sessionDraft, turnOf } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

/** A turn of a session that may ask; what it asks is planned, and ends at once where it is said that nobody answers. */
async function asking() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const turn = turnOf(draft.id, 1)
  const row = inboxRow(1, 1, { sessionId: draft.id })
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.inbox.add(row)
    await tx.inbox.claim([row.id], turn.id)
    await tx.turns.start(turn)
  })
  const planned: string[] = []
  const over = new AbortController()
  const questions = createQuestions({
    ...{ store, ids, clock: systemClock, logger: silentLogger, closeCards: async () => {} },
    ...{
      authorOf: () => undefined,
      askersOf: async () => [],
      accept: async () => {},
      isSame: () => false,
      commandMark: () => '/',
    },
    plan: async (_tx: unknown, { text }: { readonly text: string }) => {
      planned.push(text)
      return () => over.abort()
    },
  } as unknown as QuestionDeps)
  const ask = () =>
    questions.ask(
      { text: 'Which day?', choices: ['Monday'], part: 0, everybody: true },
      { id: turn.id, sessionId: draft.id, agentId: draft.agentId, callId: 'call_1' },
      over.signal,
    )
  const forgets = () => {
    const session = { id: draft.id, empty: [], cut: [], turns: [], running: { turn: turn.id, empty: [] } }
    const request = { id: 'one', state: 'running', counts: NOTHING_FORGOTTEN, askedAt: 1 } as const
    return store.write((tx) => tx.forgetting.begin({ ...request, plan: { ...NO_PLAN, sessions: [session] } }))
  }
  return { store, ask, forgets, planned }
}

it('S41: a turn whose words are being forgotten asks nobody anything, and another asks', async () => {
  const other = await asking()
  await expect(other.ask()).rejects.toMatchObject({ code: 'aborted' })
  expect(other.planned).toEqual([expect.stringContaining('Which day?')])
  const { store, ask, forgets, planned } = await asking()
  await forgets()
  await expect(ask()).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('being forgotten') })
  expect(planned).toEqual([])
  expect(await store.read.questions.open(0)).toEqual([])
})
