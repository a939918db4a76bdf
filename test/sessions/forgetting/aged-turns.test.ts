import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { TurnId } from '../../../src/core/ids.ts'
import { removeAged } from '../../../src/sessions/forgetting/aged-turns.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../../src/store/store.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { assistantMessage, ids, sessionDraft, turnCompleted, turnOf, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const DAY_MS = 86_400_000
const NOW = 100 * DAY_MS
const TURN = 'turn_1' as TurnId
const ENDED: EventToAppend = { ...turnCompleted, turnId: TURN }
const LIMIT = NOW - 10 * DAY_MS

const answer = (text: string): EventToAppend => ({ ...assistantMessage(text), turnId: TURN })

/** A log whose events have these times, and how much of it is emptied at an age limit of ten days. */
async function house(events: readonly (readonly [at: number, event: EventToAppend])[]) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  for (const [at, event] of events) await store.write((tx) => tx.events.append(session.id, at, [event]))
  const [row] = await store.read.forgetting.sessions(0, 1)
  const removal = { session, no: row?.no ?? 0, before: LIMIT, by: 'retention', request: 'retention 1', seq: 0 }
  const ports = { clock: systemClock, dropSchedule: async () => {}, dropView: () => {} }
  const remove = () => store.write((tx) => removeAged(tx, removal, ports))
  const left = async (): Promise<readonly string[]> =>
    (await store.read.events.since(session.id, 0, 100)).flatMap(({ type, forgotten }) =>
      forgotten || type === 'words_forgotten' ? [] : [type],
    )
  return { store, session, remove, left }
}

it('S41: a turn that ended after the limit of age stays as a whole, with the words that it answers', async () => {
  const { remove, left } = await house([
    [LIMIT - 1_000, userMessage('an old question')],
    [LIMIT - 500, { type: 'turn_started', turnId: TURN, data: { rows: [], traceId: ids.trace() } }],
    [LIMIT + 500, answer('a younger answer')],
    [LIMIT + 600, ENDED],
  ])
  expect(await remove()).toBeUndefined()
  expect(await left()).toContain('user_message')
})

it('S41: a turn without an end goes once it is a day older than the limit', async () => {
  const { remove, left } = await house([
    [LIMIT - DAY_MS - 1_000, userMessage('an old question')],
    [LIMIT - DAY_MS - 500, answer('that broke off')],
    [LIMIT + 500, userMessage('a young one')],
  ])
  expect(await remove()).toMatchObject({ events: 2 })
  expect(await left()).toEqual(['user_message'])
})

it('S41: nothing goes by age while a turn of the session runs', async () => {
  const { store, session, remove } = await house([
    [LIMIT - 2 * DAY_MS, userMessage('an old question')],
    [LIMIT - 2 * DAY_MS, answer('an old answer')],
    [LIMIT - 2 * DAY_MS, ENDED],
  ])
  const running = turnOf(session.id, 1)
  await store.write((tx) => tx.turns.start(running))
  expect(await remove()).toBeUndefined()
  await store.write((tx) =>
    tx.turns.finish(running.id, { state: 'completed', outcome: 'answered', at: NOW, usage: { input: 1, output: 1 } }),
  )
  expect(await remove()).toMatchObject({ events: 3 })
})
