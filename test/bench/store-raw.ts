import { Database } from '../../src/store/engines/sqlite-driver.ts'
import { SQLITE } from '../../src/store/engines/sqlite-migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { assistantMessage, deliveryOf, ids, inboxRow, sessionDraft, turnOf, userMessage } from '../store/sample-rows.ts'

interface RawLoad {
  readonly path: string
  readonly sessions: number
  readonly parallel: number
  readonly cycles: number
}

/**
 * The limit itself: the same rows into the same tables and indices in batches of the same size, by a plain loop over
 * prepared statements with values made beforehand. Returns cycles per second.
 */
export function rawCycles({ path, sessions, parallel, cycles }: RawLoad): number {
  const db = new Database(path)
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'wal_autocheckpoint = 4000',
    'temp_store = MEMORY',
  ])
    db.pragma(pragma)
  for (const migration of MIGRATIONS) for (const text of migration.statements(SQLITE)) db.exec(text)
  const made = makeSessions(db, sessions)
  const steps = prepare(db)
  let no = 0
  const run = (count: number): void => {
    for (const end = no + count; no < end; ) {
      const batch = Array.from({ length: parallel }, (_, index) => load(made, no + index))
      no += parallel
      for (const step of [steps.accept, steps.finish, steps.sent]) {
        db.exec('BEGIN IMMEDIATE')
        for (const values of batch) step(values)
        db.exec('COMMIT')
      }
    }
  }
  run(cycles / 4)
  const from = performance.now()
  run(cycles)
  const ms = performance.now() - from
  db.close()
  return (cycles * 1000) / ms
}

interface RawSession {
  readonly id: string
  readonly no: number | bigint
  lastSeq: number
}

function makeSessions(db: Database, count: number): readonly RawSession[] {
  const insert = db.prepare(`INSERT INTO sessions (id, scope_key, scope, agent_id, kind, display_key, chat_type, source,
    metadata, created_at) VALUES (?, ?, ?, 'main', 'group', ?, 'group', ?, ?, 1)`)
  const activity = db.prepare('INSERT INTO session_activity (no, last_activity_at) VALUES (?, 1)')
  return Array.from({ length: count }, (_, chat) => {
    const { id, scopeKey, scope, displayKey, source, metadata } = sessionDraft(chat)
    const words = [JSON.stringify(scope), displayKey, JSON.stringify(source), JSON.stringify(metadata)]
    const no = insert.run(id, scopeKey, ...words).lastInsertRowid
    activity.run(no)
    return { id, no, lastSeq: 0 }
  })
}

type Values = ReturnType<typeof load>

function load(sessions: readonly RawSession[], no: number) {
  const chat = no % sessions.length
  const session = sessions[chat] ?? { id: '', no: 0, lastSeq: 0 }
  const row = inboxRow(chat, no)
  const turn = turnOf(session.id as never, chat)
  return {
    no,
    session,
    sessionId: session.id,
    inboxId: row.id,
    traceId: row.dispatch.traceId,
    dispatch: JSON.stringify(row.dispatch),
    decision: JSON.stringify(row.decision),
    turnId: turn.id,
    reply: JSON.stringify(turn.reply),
    user: JSON.stringify(userMessage(`message ${no}`).data),
    answer: JSON.stringify(assistantMessage(`echo message ${no}`).data),
    started: JSON.stringify({ traceId: ids.trace() }),
    completed: '{"outcome":"answered","usage":{"input":10,"output":5},"steps":1}',
    delivery: deliveryOf(turn.id),
  }
}

function prepare(db: Database) {
  const inbox = db.prepare(`INSERT INTO inbox (id, channel, account, event_key, kind, session_id, turn_id, trace_id,
    message_id, state, dispatch, decision) VALUES (?, 'telegram', 'default', ?, 'run', ?, ?, ?, ?, 'claimed', ?, ?)`)
  const advance = db.prepare(`UPDATE session_activity SET last_seq = ?, message_count = message_count + 1,
    turn_count = turn_count + ?, last_activity_at = ?, preview = ? WHERE no = ?`)
  const events = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)')
  const start = db.prepare(`INSERT INTO turns (id, session_id, trace_id, reply, state, attempt, epoch, started_at)
    VALUES (?, ?, ?, ?, 'running', 1, 1, ?)`)
  const finish = db.prepare("UPDATE turns SET state = 'completed', outcome = 'answered', ended_at = ? WHERE id = ?")
  const add =
    db.prepare(`INSERT INTO outbox (id, source, part_no, session_id, trace_id, address, class, op, part, state,
    attempt, owner_epoch, expires_at, started_at) VALUES (?, ?, 0, ?, ?, ?, 'reply', 'send', ?, 'sending', 1, 1, ?, ?)`)
  const sent = db.prepare("UPDATE outbox SET state = 'sent', message_id = ? WHERE id = ?")
  const append = (v: Values, turns: number, rows: readonly [string, string | null, string][]): void => {
    const { session } = v
    const first = session.lastSeq + 1
    session.lastSeq += rows.length
    advance.run(session.lastSeq, turns, v.no, 'message', session.no)
    const values = rows.flatMap(([type, turn, data], index) => [session.no, first + index, v.no, type, turn, data])
    events.run(...values)
  }
  return {
    accept(v: Values): void {
      inbox.run(v.inboxId, `${v.no}`, v.sessionId, v.turnId, v.traceId, `${v.no}`, v.dispatch, v.decision)
      append(v, 0, [
        ['user_message', null, v.user],
        ['turn_started', v.turnId, v.started],
      ])
      start.run(v.turnId, v.sessionId, v.traceId, v.reply, v.no)
    },
    finish(v: Values): void {
      append(v, 1, [
        ['assistant_message', v.turnId, v.answer],
        ['turn_completed', v.turnId, v.completed],
      ])
      finish.run(v.no, v.turnId)
      const { id, address, part, expiresAt } = v.delivery
      add.run(id, v.turnId, v.sessionId, v.traceId, JSON.stringify(address), JSON.stringify(part), expiresAt, v.no)
    },
    sent(v: Values): void {
      sent.run(`${v.no}`, v.delivery.id)
    },
  }
}
