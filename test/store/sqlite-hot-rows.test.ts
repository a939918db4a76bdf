import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { InboxId, TurnId } from '../../src/core/ids.ts'
import { toSessionId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { decisionOf, dispatchOf, scopeKeyOf, turnOf, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'hot-rows'),
)
const [ADA, BEN] = [toSessionId('telegram:2026-11-21-aaaaaaaa'), toSessionId('telegram:2026-11-20-bbbbbbbb')]

it('S5: sessions, events and outcomes of the schema before it are found again', async () => {
  const path = join(tempFolder(), 'store.db')
  await (await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })).close()
  fill(path)
  const store = await openSqliteStore({ path, clock: systemClock })
  const { sessions, events, inbox, outbox } = store.read
  expect(await sessions.get(ADA)).toMatchObject({ lastSeq: 2, messageCount: 2, preview: 'two', description: 'one' })
  expect(await sessions.get(BEN)).toMatchObject({ lastSeq: 1, inactiveAt: 9, lastActivityAt: 8 })
  expect((await sessions.list({ limit: 9, offset: 0, inactive: false })).sessions.map(({ id }) => id)).toEqual([ADA])
  expect((await events.since(ADA, 0, 9)).map(({ seq, data }) => [seq, data])).toEqual([
    [1, userMessage('one').data],
    [2, userMessage('two').data],
  ])
  expect(await events.latest(BEN, 9)).toHaveLength(1)
  expect(await inbox.get('in_1' as InboxId)).toMatchObject({ state: 'done', outcome: 'answered' })
  expect(await inbox.get('in_2' as InboxId)).toMatchObject({ state: 'claimed' })
  expect(await outbox.counts()).toEqual({ sent: 2, waiting: 1 })
  const end = { state: 'completed', outcome: 'silent', at: 9, usage: { input: 0, output: 0 } } as const
  await store.write(async (tx) => {
    await tx.turns.resume('turn_2' as TurnId)
    await tx.turns.finish('turn_2' as TurnId, end)
    expect(await tx.events.append(ADA, 9, [userMessage('three')])).toBe(3)
  })
  expect(await inbox.get('in_2' as InboxId)).toMatchObject({ state: 'done', outcome: 'silent' })
  await store.close()
})

function fill(path: string): void {
  withDatabase(path, (database) => {
    const session =
      database.prepare(`INSERT INTO sessions (id, scope_key, scope, agent_id, kind, display_key, chat_type,
      source, metadata, created_at, last_activity_at, message_count, preview, description, inactive_at, last_seq)
      VALUES (?, ?, '{"dimensions":[],"values":{}}', 'main', 'group', 'telegram:group:-1001', 'group', '{"kind":"channel"}', '{}', 1, 8, ?, ?, ?, ?, ?)`)
    session.run(ADA, scopeKeyOf(1), 2, 'two', 'one', null, 2)
    session.run(BEN, scopeKeyOf(2), 1, '', '', 9, 1)
    const event = database.prepare('INSERT INTO events VALUES (?, ?, 1, ?, NULL, ?)')
    const append = (id: string, seq: number, text: string) =>
      event.run(id, seq, 'user_message', JSON.stringify(userMessage(text).data))
    append(ADA, 1, 'one')
    append(BEN, 1, 'alone')
    append(ADA, 2, 'two')
    const turn =
      database.prepare(`INSERT INTO turns (id, session_id, trace_id, reply, state, attempt, epoch, started_at)
      VALUES (?, ?, 'tr_1', ?, ?, 1, 1, 1)`)
    const { reply } = turnOf(ADA, 1)
    turn.run('turn_1', ADA, JSON.stringify(reply), 'completed')
    turn.run('turn_2', ADA, JSON.stringify(reply), 'running')
    const inbox =
      database.prepare(`INSERT INTO inbox (id, channel, account, event_key, kind, session_id, turn_id, trace_id,
      state, outcome, dispatch, decision) VALUES (?, 'telegram', 'default', ?, 'run', ?, ?, 'tr_1', ?, ?, ?, ?)`)
    const words = [JSON.stringify(dispatchOf(1, 1)), JSON.stringify(decisionOf(1))]
    inbox.run('in_1', '1', ADA, 'turn_1', 'done', 'answered', ...words)
    inbox.run('in_2', '2', ADA, 'turn_2', 'claimed', null, ...words)
    const part = database.prepare(`INSERT INTO outbox (id, source, part_no, trace_id, address, class, op, part, state,
      attempt, owner_epoch, expires_at) VALUES (?, 'turn_1', ?, 'tr_1', '{}', 'reply', 'send', '{}', ?, 1, 1, 1)`)
    for (const [no, state] of ['sent', 'waiting', 'sent'].entries()) part.run(`out_${no}`, no, state)
  })
}
