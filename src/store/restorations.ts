import { ParleyError } from '../core/errors.ts'
import type { DeliveryId } from '../core/ids.ts'
import type { Restoration, RestorationReader, RestorationState, RestorationWriter } from './restoration-port.ts'
import { id, integer, oneOf } from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const STATES: readonly RestorationState[] = ['found', 'held', 'resumed', 'discarded']
const OWED = "state <> 'sent' AND state IN ('planned', 'sending', 'waiting', 'uncertain')"
const NEWEST = 'at = (SELECT MAX(at) FROM restorations)'

export class RestorationReading implements RestorationReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async latest(): Promise<Restoration | undefined> {
    const row = await this.sql.get('SELECT at, last_at, state FROM restorations ORDER BY at DESC LIMIT 1', [])
    if (row === undefined) return undefined
    return { at: integer(row, 'at'), lastAt: integer(row, 'last_at'), state: oneOf(row, 'state', STATES) }
  }

  async held(): Promise<number> {
    const row = await this.sql.get(`SELECT COUNT(*) AS total FROM outbox WHERE ${OWED} AND held = 1`, [])
    return row === undefined ? 0 : integer(row, 'total')
  }
}

export class RestorationWriting extends RestorationReading implements RestorationWriter {
  async hold(): Promise<void> {
    await this.sql.run(`UPDATE outbox SET held = 1 WHERE ${OWED}`, [])
    await this.sql.run(`UPDATE restorations SET state = 'held' WHERE ${NEWEST}`, [])
  }

  async resume(): Promise<readonly DeliveryId[]> {
    await this.#decide('resumed')
    const rows = await this.sql.all(`SELECT id FROM outbox WHERE ${OWED} AND held = 1 ORDER BY no`, [])
    await this.sql.run(`UPDATE outbox SET held = NULL WHERE ${OWED} AND held = 1`, [])
    return rows.map((row) => id(row, 'id'))
  }

  async discard(reason: string): Promise<number> {
    await this.#decide('discarded')
    return this.sql.run(
      `UPDATE outbox SET held = NULL, state = CASE WHEN state = 'uncertain' THEN 'given_up' ELSE 'expired' END, reason = $1
        WHERE ${OWED} AND held = 1`,
      [reason],
    )
  }

  async #decide(state: RestorationState): Promise<void> {
    const query = `UPDATE restorations SET state = $1 WHERE ${NEWEST} AND state = 'held'`
    if ((await this.sql.run(query, [state])) === 0)
      throw new ParleyError('conflict', 'Nothing is held: there is nothing to decide.')
  }
}
