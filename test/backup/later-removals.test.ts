import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type LaterRemovals, laterRemovals } from '../../src/backup/later-removals.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { FORGOTTEN_MARK } from '../../src/store/content-codec.ts'
import { withRows } from '../../src/store/engines/snapshot.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Database } from '../../src/store/engines/sqlite-driver.ts'
import { BLANK_PART } from '../../src/store/outbox.ts'
import { removeTempFolders, tempFolder, withDatabase } from '../store/temp-database.ts'

removeTempFolders()

type Values = Readonly<Record<string, string | number | null>>

/** Inserts a row whose other columns hold whatever their table allows. */
function put(database: Database, table: string, values: Values): void {
  const columns = database.pragma(`table_info(${table})`) as { name: string; type: string; notnull: 0 | 1 }[]
  const filled = Object.fromEntries(
    columns.flatMap(({ name, type, notnull }) => {
      if (name in values) return [[name, values[name]]]
      return notnull === 1 ? [[name, type === 'TEXT' ? `${table}.${name}` : 0]] : []
    }),
  )
  const names = Object.keys(filled)
  database
    .prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`)
    .run(...Object.values(filled))
}

const TEXT = JSON.stringify({ text: 'words' })
const EMPTIED = `${FORGOTTEN_MARK}}`

/** One conversation with a row of each kind. */
function fill(database: Database): void {
  put(database, 'sessions', { no: 1, id: 's1', created_at: 1, deleted_at: null, scope_key: 'k1' })
  put(database, 'session_activity', { no: 1, preview: 'words', description: '' })
  put(database, 'events', { session_no: 1, seq: 1, at: 10, type: 'user_message', data: TEXT, event_id: 'e1' })
  put(database, 'inbox', { id: 'i1', session_id: 's1', outcome: null, dispatch: '{}' })
  put(database, 'outbox', { id: 'o1', session_id: 's1', source: 'q1', part: TEXT, state: 'sent' })
  put(database, 'memory_entries', { no: 1, session_no: 1, request: 'r1', at: 10, made_by: 'person' })
  put(database, 'media_uses', { session_no: 1, media_id: 'm1' })
  put(database, 'schedules', { id: 'reminder', source: 'command', evaluated_to: 0 })
  put(database, 'admissions', { key: 'telegram:1', name: 'Ada', state: 'waiting' })
}

/** Compares a copy with a later state of it, which this makes. */
async function compared(later: (database: Database) => void): Promise<LaterRemovals> {
  const folder = tempFolder()
  const [older, newer] = [join(folder, 'older.db'), join(folder, 'newer.db')]
  await (await openSqliteStore({ path: older, clock: systemClock, logger: silentLogger })).close()
  const change = (path: string, work: (database: Database) => void) =>
    withDatabase(path, (database) => {
      database.pragma('foreign_keys = OFF')
      database.pragma('ignore_check_constraints = ON')
      work(database)
      database.pragma('wal_checkpoint(TRUNCATE)')
    })
  change(older, fill)
  copyFileSync(older, newer)
  change(newer, later)
  return withRows(older, undefined, (one) => withRows(newer, undefined, (other) => laterRemovals(one, other)))
}

const shorten = "INSERT INTO counters (name, value) VALUES ('removals of s1', 7)"
const ALL_GONE = `DELETE FROM sessions; DELETE FROM session_activity; DELETE FROM events; DELETE FROM inbox;
  DELETE FROM outbox; DELETE FROM memory_entries; DELETE FROM media_uses; DELETE FROM schedules; DELETE FROM admissions`

it('a row that the other state lacks says nothing by itself: that state may be older in truth', async () => {
  const { deleted, forgotten, aged, open } = await compared((database) => database.exec(ALL_GONE))
  expect({ deleted, open, sessions: forgotten.sessions }).toEqual({ deleted: [], open: [], sessions: [] })
  const { inbox, sources, entries, schedules, media, applicants } = forgotten
  expect([inbox, sources, entries, schedules, media, applicants, aged.inbox].flat()).toEqual([])
})

it('a conversation that was deleted, and what was in it', async () => {
  const { deleted, forgotten } = await compared((database) => database.exec(`${shorten}; ${ALL_GONE}`))
  expect(deleted).toEqual(['s1'])
  expect(forgotten).toMatchObject({ inbox: ['i1'], sources: ['q1'], entries: [1], media: ['m1'] })
})

it('another conversation of the same name is not the deleted one', async () => {
  const { deleted } = await compared((database) => {
    database.exec(`${shorten}; ${ALL_GONE}`)
    put(database, 'sessions', { no: 2, id: 's1', created_at: 2, deleted_at: null, scope_key: 'k1' })
  })
  expect(deleted).toEqual(['s1'])
})

it.for<[what: string, change: string, found: object]>([
  [
    'an emptied event',
    `UPDATE events SET data = '${EMPTIED}'`,
    { sessions: [expect.objectContaining({ id: 's1', empty: [1] })] },
  ],
  ['an emptied event of another time', `UPDATE events SET data = '${EMPTIED}', at = 11`, { sessions: [] }],
  ['an emptied message', "UPDATE inbox SET outcome = 'forgotten'", { inbox: ['i1'] }],
  ['an emptied text', `UPDATE outbox SET part = '${BLANK_PART}'`, { sources: ['q1'] }],
  ['a removed memory entry', `${shorten}; DELETE FROM memory_entries`, { entries: [1] }],
  ['a memory entry that was only changed', `${shorten}; UPDATE memory_entries SET at = 99`, { entries: [] }],
  ['a removed file', `${shorten}; DELETE FROM media_uses`, { media: ['m1'] }],
  ['a preview', `${shorten}; UPDATE session_activity SET preview = ''`, { sessions: [expect.anything()] }],
  ['an applicant without a name', 'UPDATE admissions SET name = key', { applicants: ['telegram:1'] }],
])('%s', async ([, change, found]) => {
  expect((await compared((database) => database.exec(change))).forgotten).toMatchObject(found)
})

it('a reminder that was said since and is over, and none that comes again', async () => {
  const after = async (change: string) => {
    const { forgotten } = await compared((database) => {
      database.exec(change)
      put(database, 'schedule_slots', { schedule_id: 'reminder', slot_at: 5, state: 'done' })
    })
    return forgotten.schedules
  }
  expect(await after('DELETE FROM schedules')).toEqual(['reminder'])
  expect(await after('SELECT 1')).toEqual([])
})

it('what is gone for its age is no request of anybody', async () => {
  const { aged, forgotten } = await compared((database) => database.exec("UPDATE inbox SET outcome = 'aged'"))
  expect([aged.inbox, forgotten.inbox]).toEqual([['i1'], []])
})
