import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import { NO_USAGE } from '../../src/core/model.ts'
import { makeTranscript } from '../../src/daemon/make-transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { sessionDraft, turnOf, userMessage } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

it('S41: a turn whose words are being forgotten is shown them until it has ended, and no later one is', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const { id } = draft
  const turn = turnOf(id, 1)
  const running = { turn: turn.id, empty: [1], rows: [] }
  const plan = { ...NO_PLAN, sessions: [{ id, empty: [], cut: [], turns: [], running }] }
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.turns.start(turn)
    const started = { type: 'turn_started', turnId: turn.id, data: { traceId: turn.traceId } } as const
    await tx.events.append(id, 1, [userMessage('a heron', { messageId: '1' }), started])
    await tx.forgetting.begin({ id: 'in_1', state: 'running', plan, counts: NOTHING_FORGOTTEN, askedAt: 1 })
  })
  const config = { session: {} }
  const shown = async () => {
    const transcript = makeTranscript({ store, clock: systemClock, running: { has: () => false }, config }, () => false)
    return JSON.stringify(await transcript.view({ ...draft, createdAt: 1 }))
  }
  expect(await shown()).toContain('a heron')
  await store.write((tx) =>
    tx.turns.finish(turn.id, { state: 'completed', outcome: 'answered', at: 2, usage: NO_USAGE }),
  )
  expect(await shown()).not.toContain('a heron')
})
