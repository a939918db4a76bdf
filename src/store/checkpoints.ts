import { CHECKPOINT_REASONS, type CheckpointReason } from '../core/checkpoint.ts'
import type { SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { CheckpointReader, CheckpointWriter, OwedCheckpoint } from './memory-port.ts'
import { id, integer, oneOf, type RowCodec, readRows } from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const codec: RowCodec<OwedCheckpoint> = {
  table: 'checkpoints',
  key: ['session_id'],
  decode: (row) => ({
    sessionId: id(row, 'session_id'),
    reason: oneOf(row, 'reason', CHECKPOINT_REASONS),
    attempts: integer(row, 'attempts'),
    notBefore: integer(row, 'not_before'),
  }),
}

const OF_SESSION = 'session_no = (SELECT no FROM sessions WHERE id = $1)'

export class CheckpointReading implements CheckpointReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async owed(): Promise<readonly OwedCheckpoint[]> {
    const rows = await this.sql.all(
      `SELECT sessions.id AS session_id, reason, attempts, not_before FROM checkpoints
        JOIN sessions ON sessions.no = session_no WHERE deleted_at IS NULL ORDER BY owed_at, session_no`,
      [],
    )
    return readRows(codec, rows, this.#logger)
  }

  async unread(since: number, limit: number): Promise<readonly SessionId[]> {
    const rows = await this.sql.all(
      `SELECT sessions.id FROM session_activity AS activity JOIN sessions ON sessions.no = activity.no
        WHERE last_activity_at >= $1 AND last_seq > COALESCE((SELECT seq FROM events WHERE session_no = activity.no
          AND type = 'checkpoint_written' ORDER BY seq DESC LIMIT 1), 0)
        ORDER BY last_activity_at DESC, activity.no DESC LIMIT ($2 + 0)`,
      [since, limit],
    )
    return rows.map((row) => id(row, 'id'))
  }
}

export class CheckpointWriting extends CheckpointReading implements CheckpointWriter {
  async owe(session: SessionId, reason: CheckpointReason, at: number): Promise<void> {
    await this.sql.run(
      `INSERT INTO checkpoints (session_no, reason, owed_at, not_before)
        SELECT no, $2, $3, $3 FROM sessions WHERE id = $1 AND deleted_at IS NULL ON CONFLICT DO NOTHING`,
      [session, reason, at],
    )
  }

  async putOff(session: SessionId, notBefore: number): Promise<void> {
    const query = `UPDATE checkpoints SET attempts = attempts + 1, not_before = $2 WHERE ${OF_SESSION}`
    await this.sql.run(query, [session, notBefore])
  }

  async settle(session: SessionId): Promise<void> {
    await this.sql.run(`DELETE FROM checkpoints WHERE ${OF_SESSION}`, [session])
  }
}
