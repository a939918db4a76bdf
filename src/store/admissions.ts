import type { Address } from '../core/address.ts'
import type { Admission, AdmissionState, Applicant } from '../core/admission.ts'
import type { InboxId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { AdmissionReader, AdmissionWriter, RefusalBounds } from './admission-port.ts'
import { addressIn, defined, id, integer, oneOf, optional, type RowCodec, readRow, readRows, text } from './rows.ts'
import type { RepositoryDeps, Sql, SqlRow } from './sql.ts'

const KINDS: readonly Applicant['kind'][] = ['person', 'place']
const STATES: readonly AdmissionState[] = ['asked', 'admitted', 'denied']
const COLUMNS = 'key, kind, code, state, name, address, trace_id, asked_at, told_at, decided_at, decided_by'

const codec: RowCodec<Admission> = {
  table: 'admissions',
  key: ['key'],
  decode: (row) => ({
    key: text(row, 'key'),
    kind: oneOf(row, 'kind', KINDS),
    code: text(row, 'code'),
    state: oneOf(row, 'state', STATES),
    name: text(row, 'name'),
    address: addressIn(row, 'address'),
    traceId: id(row, 'trace_id'),
    askedAt: integer(row, 'asked_at'),
    ...defined({
      toldAt: optional(row, 'told_at', integer),
      decidedAt: optional(row, 'decided_at', integer),
      decidedBy: optional(row, 'decided_by', text),
    }),
  }),
}

const UNDECIDED = {
  notified: "told_at IS NOT NULL AND state = 'asked'",
  unnotified: "told_at IS NULL AND state = 'asked'",
}
/** Rows that go at a time: a store that was filled before there was a bound comes down to it step by step. */
const AT_ONCE = 20

export class AdmissionReading implements AdmissionReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async all(): Promise<readonly Admission[]> {
    const rows = await this.sql.all(`SELECT ${COLUMNS} FROM admissions ORDER BY asked_at DESC, key`, [])
    return readRows(codec, rows, this.#logger)
  }

  async find(name: string): Promise<Admission | undefined> {
    const row = await this.sql.get(`SELECT ${COLUMNS} FROM admissions WHERE key = $1 OR code = $1`, [name])
    return row === undefined ? undefined : readRow(codec, row)
  }

  async unnotified(limit: number): Promise<readonly Admission[]> {
    const query = `SELECT ${COLUMNS} FROM admissions WHERE ${UNDECIDED.unnotified} ORDER BY asked_at LIMIT $1`
    return readRows(codec, await this.sql.all(query, [limit]), this.#logger)
  }

  async refusals(key: string, since: number, limit: number): Promise<readonly InboxId[]> {
    const rows = await this.sql.all(
      `SELECT inbox_id FROM admission_refusals WHERE key = $1 AND at >= $2 ORDER BY inbox_id DESC LIMIT $3`,
      [key, since, limit],
    )
    return rows.map((row) => id<InboxId>(row, 'inbox_id')).reverse()
  }

  async unhandled(): Promise<readonly string[]> {
    const rows = await this.sql.all(
      `SELECT key FROM admissions WHERE state = 'admitted'
        AND EXISTS (SELECT 1 FROM admission_refusals WHERE admission_refusals.key = admissions.key)`,
      [],
    )
    return rows.map((row) => text(row, 'key'))
  }
}

export class AdmissionWriting extends AdmissionReading implements AdmissionWriter {
  async ask(
    { key, kind, code, name, address, traceId }: Applicant & Pick<Admission, 'code' | 'name' | 'address' | 'traceId'>,
    at: number,
  ): Promise<'added' | 'known' | 'code_taken'> {
    const state: AdmissionState = 'asked'
    const added = await this.sql.run(
      `INSERT INTO admissions (key, kind, code, state, name, address, trace_id, asked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
      [key, kind, code, state, name, JSON.stringify(address), traceId, at],
    )
    if (added > 0) return 'added'
    return (await this.sql.get('SELECT 1 FROM admissions WHERE key = $1', [key])) === undefined ? 'code_taken' : 'known'
  }

  async beyond(which: 'notified' | 'unnotified', most: number): Promise<readonly string[]> {
    const by = which === 'notified' ? 'told_at' : 'asked_at'
    const query = `SELECT key FROM admissions WHERE ${UNDECIDED[which]} ORDER BY ${by} DESC LIMIT $1 OFFSET $2`
    return (await this.sql.all(query, [AT_ONCE, most])).map((row) => text(row, 'key'))
  }

  async before(which: 'notified' | 'unnotified', at: number): Promise<readonly string[]> {
    const by = which === 'notified' ? 'told_at' : 'asked_at'
    const query = `SELECT key FROM admissions WHERE ${UNDECIDED[which]} AND ${by} < $1 ORDER BY ${by} LIMIT $2`
    return (await this.sql.all(query, [at, AT_ONCE])).map((row) => text(row, 'key'))
  }

  async withdraw(key: string): Promise<void> {
    await this.sql.run('DELETE FROM admission_refusals WHERE key = $1', [key])
    await this.sql.run("DELETE FROM admissions WHERE key = $1 AND state = 'asked'", [key])
  }

  async notified(key: string, at: number): Promise<void> {
    await this.sql.run('UPDATE admissions SET told_at = $2 WHERE key = $1', [key, at])
  }

  async decide(
    key: string,
    { state, by }: { readonly state: 'admitted' | 'denied'; readonly by: string },
    at: number,
  ): Promise<void> {
    const query = 'UPDATE admissions SET state = $2, decided_by = $3, decided_at = $4 WHERE key = $1'
    await this.sql.run(query, [key, state, by, at])
  }

  async refuse(
    key: string,
    { inbox, at, bytes }: { readonly inbox: InboxId; readonly at: number; readonly bytes: number },
    bounds: RefusalBounds,
  ): Promise<readonly InboxId[]> {
    const insert = 'INSERT INTO admission_refusals (key, inbox_id, at, bytes) VALUES ($1, $2, $3, $4)'
    await this.sql.run(insert, [key, inbox, at, bytes])
    const newest = 'SELECT inbox_id, at, bytes FROM admission_refusals WHERE key = $1 ORDER BY inbox_id DESC LIMIT $2'
    const rows = await this.sql.all(newest, [key, bounds.messages + AT_ONCE])
    const gone = rows.slice(withinBounds(rows, bounds)).map((row) => id<InboxId>(row, 'inbox_id'))
    const [last] = gone
    if (last !== undefined) await this.forget(key, last)
    return gone
  }

  async rekey(from: string, to: string, address: Address): Promise<void> {
    // The later of two decisions stands, whichever id it was made about.
    const later = `DELETE FROM admissions WHERE key = $1 AND EXISTS (SELECT 1 FROM admissions AS there
      WHERE there.key = $2 AND there.decided_at >= COALESCE(admissions.decided_at, 0))`
    if ((await this.sql.run(later, [from, to])) === 0) await this.sql.run('DELETE FROM admissions WHERE key = $1', [to])
    await this.sql.run('UPDATE admissions SET key = $2, address = $3 WHERE key = $1', [
      from,
      to,
      JSON.stringify(address),
    ])
    await this.sql.run('UPDATE admission_refusals SET key = $2 WHERE key = $1', [from, to])
  }

  async forget(key: string, upTo?: InboxId): Promise<void> {
    if (upTo === undefined) await this.sql.run('DELETE FROM admission_refusals WHERE key = $1', [key])
    else await this.sql.run('DELETE FROM admission_refusals WHERE key = $1 AND inbox_id <= $2', [key, upTo])
  }
}

/** Returns the number of these rows, the newest first, that are kept. The newest is always kept. */
function withinBounds(rows: readonly SqlRow[], { since, messages, bytes }: RefusalBounds): number {
  let left = bytes
  const first = rows.findIndex((row, index) => {
    left -= integer(row, 'bytes')
    return index > 0 && (index >= messages || left < 0 || integer(row, 'at') < since)
  })
  return first === -1 ? rows.length : first
}
