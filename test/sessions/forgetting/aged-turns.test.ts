import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { TurnId } from '../../../src/core/ids.ts'
import { removeAged } from '../../../src/sessions/forgetting/aged-turns.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import {
  assistantMessage,
  deliveryOf,
  dispatchOf,
  ids,
  inboxRow,
  messageOf,
  sessionDraft,
  turnCompleted,
  turnOf,
  userMessage,
} from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const DAY_MS = 86_400_000
const NOW = 100 * DAY_MS
const TURN = 'turn_1' as TurnId
const ENDED: EventToAppend = { ...turnCompleted, turnId: TURN }
const LIMIT = NOW - 10 * DAY_MS
const OLD = LIMIT - 2 * DAY_MS

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

it('S41: a turn without an end from a clock that was ahead keeps nothing that is old', async () => {
  const { remove, left } = await house([
    [systemClock.now() + DAY_MS, answer('that broke off')],
    [OLD, userMessage('an old question')],
  ])
  expect(await remove()).toMatchObject({ events: 2 })
  expect(await left()).toEqual([])
})

it('S41: nothing goes by age while a turn of the session runs', async () => {
  const { store, session, remove } = await house([
    [OLD, userMessage('an old question')],
    [OLD, answer('an old answer')],
    [OLD, ENDED],
  ])
  const running = turnOf(session.id, 1)
  await store.write((tx) => tx.turns.start(running))
  expect(await remove()).toBeUndefined()
  await store.write((tx) =>
    tx.turns.finish(running.id, { state: 'completed', outcome: 'answered', at: NOW, usage: { input: 1, output: 1 } }),
  )
  expect(await remove()).toMatchObject({ events: 3 })
})

it('S41: what was made of old words goes with them: entries, summaries, and what lists show', async () => {
  const said = userMessage('an old question about llamas', { messageId: '5' })
  const { store, session, remove, left } = await house([
    [OLD, { type: 'turn_started', turnId: TURN, data: { rows: [], traceId: ids.trace() } }],
    [NOW, { type: 'context_compacted', data: { text: 'of what was before', back: 1 } as never }],
    [OLD, said],
    [OLD, answer('an old answer')],
    [OLD, ENDED],
    [NOW, { type: 'context_compacted', data: { text: 'they spoke of llamas', back: 3 } as never }],
  ])
  await store.write(async (tx) => {
    const entry = { agentId: session.agentId, sessionId: session.id, text: 'llamas', authors: [], at: NOW } as const
    await tx.memory.add({ ...entry, by: 'agent', request: 'tool 1', sources: [{ messageId: '5' }] })
    await tx.sessions.describe(session.id, 'Llamas', 'ai')
  })
  expect(await store.read.sessions.get(session.id)).toMatchObject({ description: 'Llamas', preview: 'an old answer' })
  expect(await remove()).toMatchObject({ events: 3 })
  expect(await left()).toEqual(['turn_started', 'context_compacted'])
  expect(JSON.stringify(await store.read.events.since(session.id, 0, 10))).toContain('of what was before')
  expect(await store.read.memory.newest([session.id], 5)).toEqual([])
  const { description, preview } = (await store.read.sessions.get(session.id)) ?? {}
  expect(JSON.stringify({ description, preview })).not.toMatch(/llamas|old/i)
})

it('S41: what lists show of younger words stays', async () => {
  const { store, session, remove } = await house([
    [OLD, userMessage('an old question')],
    [OLD, answer('an old answer')],
    [OLD, ENDED],
    [NOW, userMessage('a young question')],
    [NOW, { ...assistantMessage('a young answer') }],
  ])
  expect(await store.read.sessions.get(session.id)).toMatchObject({ description: 'an old question' })
  expect(await remove()).toMatchObject({ events: 3 })
  expect(await store.read.sessions.get(session.id)).toMatchObject({ preview: 'a young answer' })
  expect((await store.read.sessions.get(session.id))?.description).not.toContain('old')
})

it('S41: a row of a younger message that has the number of an old one stays as it is', async () => {
  const { store, session, remove } = await house([
    [OLD, userMessage('an old question', { messageId: '5' })],
    [OLD, ENDED],
  ])
  const row = (at: number, no: number) =>
    inboxRow(1, no, {
      sessionId: session.id,
      dispatch: { ...dispatchOf(1, 5), event: messageOf(1, 5), receivedAt: at },
    })
  const rows = [row(OLD, 1), row(NOW, 2)].map((one, no) => ({
    ...one,
    dispatch: { ...one.dispatch, event: { ...messageOf(1, 5), eventKey: `key ${no}` } },
  }))
  await store.write(async (tx) => {
    for (const one of rows) await tx.inbox.add(one)
  })
  await remove()
  const text = async (no: number) => JSON.stringify(await store.read.inbox.get(rows[no]?.id ?? ids.inbox()))
  expect(await text(0)).not.toContain('message 5')
  expect(await text(1)).toContain('message 5')
})

it('S41: the next round begins behind the old events that stand together, not behind later ones', async () => {
  const { store, remove } = await house([
    [OLD, userMessage('an old question')],
    [NOW, userMessage('of a clock that was ahead')],
    [OLD, userMessage('another old question')],
  ])
  expect(await remove()).toMatchObject({ events: 2 })
  expect((await store.read.forgetting.sessions(0, 1))[0]).toMatchObject({ seq: 1 })
})

it('S41: the answers of a session that is there still, from which the log was copied, are emptied there alone', async () => {
  const { store, session, remove } = await house([
    [OLD, userMessage('an old question')],
    [OLD, answer('an old answer')],
    [OLD, ENDED],
  ])
  const from = await store.write((tx) => tx.sessions.create(sessionDraft(2), 1))
  const own = 'turn_2' as TurnId
  await store.write(async (tx) => {
    await tx.events.append(session.id, OLD, [{ type: 'history_taken_over', data: { from: from.id, events: 3 } }])
    await tx.events.append(session.id, OLD, [
      { ...assistantMessage('of this one'), turnId: own },
      { ...ENDED, turnId: own },
    ])
    for (const turn of [TURN, own]) await tx.outbox.add([deliveryOf(turn)])
  })
  await remove()
  const sent = async (turn: TurnId) => (await store.read.outbox.ofTurn(turn)).map(({ part }) => part.text)
  expect([await sent(TURN), await sent(own)]).toEqual([['echo'], ['']])
})
