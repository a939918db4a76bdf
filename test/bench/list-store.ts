import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openConnection, type SqliteConnection } from '../../src/store/engines/sqlite-connection.ts'
import { prepareFiles } from '../../src/store/engines/sqlite-files.ts'
import { migrate } from '../../src/store/engines/sqlite-migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { progress } from './rig.ts'

/** The schema before the lists were kept. */
const BEFORE_LISTS = 40
const HOUR = 3_600_000
/** The moment at which the sessions are looked at. */
export const LIST_NOW = 1_800_000_000_000
/** Somebody who took part in three of ten sessions, and somebody in one of a thousand. */
export const [OFTEN, SELDOM] = ['telegram:111', 'telegram:222'] as const

/** How the last activities lie: over two years, most of them old, or all within one hour. */
export type Spread = 'years' | 'hour'

/** Makes, once, a store of an older version with so many sessions, and returns its file. */
export function listStore(folder: string, sessions: number, spread: Spread): string {
  const path = join(folder, `${spread}-${sessions}.db`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const making = `${path}.new`
  rmSync(making, { force: true })
  const place = prepareFiles(making)
  const connection = openConnection(making)
  migrate({
    ...{ connection, place, clock: systemClock, logger: silentLogger },
    migrations: MIGRATIONS.slice(0, BEFORE_LISTS),
  })
  for (let first = 0; first < sessions; first += 20_000) {
    connection.exec('BEGIN')
    for (let at = first; at < Math.min(first + 20_000, sessions); at++) addSession(connection, at, spread)
    connection.exec('COMMIT')
    if (first % 100_000 === 0) progress(`lists: ${first.toLocaleString('en-US')} stored`)
  }
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
  for (const side of ['-wal', '-shm']) rmSync(making + side, { force: true })
  return rename(making, path)
}

function rename(from: string, to: string): string {
  rmSync(to, { force: true })
  renameSync(from, to)
  return to
}

function addSession(connection: SqliteConnection, at: number, spread: Spread): void {
  const { id: drawn, ...draft } = sessionDraft(at)
  const mixed = (at * 7919) % 1_000
  const id = mixed < 100 ? `web:alice:${at}` : mixed < 101 ? `api:shop:${at}` : drawn
  const lastAt = timeOf(at, spread)
  const row = [at + 1, id, draft.scopeKey, JSON.stringify(draft.scope), draft.agentId, draft.kind, draft.displayKey]
  connection.run(
    `INSERT INTO sessions (no, id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [...row, draft.chatType, JSON.stringify(draft.source), JSON.stringify(draft.metadata), lastAt],
  )
  connection.run(
    'INSERT INTO session_activity (no, last_activity_at, inactive_at, last_seq, preview) VALUES ($1, $2, $3, 1, $4)',
    [at + 1, lastAt, mixed % 10 === 3 ? lastAt : null, 'a word'],
  )
  const members = [
    `telegram:${1_000 + (at % 300_000)}`,
    ...(mixed % 10 < 3 ? [OFTEN] : []),
    ...(mixed === 500 ? [SELDOM] : []),
  ]
  for (const member of members)
    connection.run('INSERT INTO participants (session_id, participant, joined_at) VALUES ($1, $2, 1)', [id, member])
}

function timeOf(at: number, spread: Spread): number {
  const mixed = (at * 104_729) % 1_000_003
  if (spread === 'hour') return LIST_NOW - HOUR + mixed * 3
  return mixed % 3 === 0 ? LIST_NOW - (mixed % 72) * HOUR - mixed : LIST_NOW - (mixed % 17_000) * HOUR - mixed
}
