import { type ErrorCode, ParleyError } from '../core/errors.ts'
import { type TurnId, turnIdFloor } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { addUsage, toUsage, type Usage } from '../core/model.ts'
import type { PrecheckVerdict } from '../core/precheck.ts'
import { NOTHING_SPENT, type Spending } from '../core/spending.ts'
import {
  defined,
  id,
  integer,
  isReadable,
  json,
  oneOf,
  optional,
  type RowCodec,
  readRow,
  readRows,
  replyIn,
} from './rows.ts'
import type { RepositoryDeps, Sql, SqlRow, SqlValue } from './sql.ts'
import type { NewTurn, Turn, TurnEnd, TurnReader, TurnState, TurnWriter } from './turn-port.ts'

const STATES: readonly TurnState[] = ['running', 'completed', 'failed', 'cancelled', 'quarantined']
const COLUMNS = `id, session_id, trace_id, reply, state, attempt, epoch, started_at, ended_at, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, error, precheck`
const SUMS = `COALESCE(SUM(input_tokens), 0) AS input_tokens, COALESCE(SUM(output_tokens), 0) AS output_tokens,
  COALESCE(SUM(cache_read_tokens), 0) AS cache_read_tokens, COALESCE(SUM(cache_write_tokens), 0) AS cache_write_tokens`

const codec: RowCodec<Turn> = {
  table: 'turns',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    sessionId: id(row, 'session_id'),
    traceId: id(row, 'trace_id'),
    reply: replyIn(row, 'reply'),
    state: oneOf(row, 'state', STATES),
    attempt: integer(row, 'attempt'),
    epoch: integer(row, 'epoch'),
    startedAt: integer(row, 'started_at'),
    usage: usageIn(row),
    ...defined({
      endedAt: optional(row, 'ended_at', integer),
      error: optional(row, 'error', id<ErrorCode>),
      precheck: precheckIn(row),
    }),
  }),
}

/** It explains a turn and decides nothing: one that cannot be read is none. */
function precheckIn(row: SqlRow): PrecheckVerdict | undefined {
  try {
    const verdict = optional(row, 'precheck', json<PrecheckVerdict>)
    return typeof verdict?.because === 'string' && typeof verdict.model === 'string' ? verdict : undefined
  } catch {
    return undefined
  }
}

function usageIn(row: SqlRow): Usage {
  return toUsage({
    input: integer(row, 'input_tokens'),
    output: integer(row, 'output_tokens'),
    cacheRead: integer(row, 'cache_read_tokens'),
    cacheWrite: integer(row, 'cache_write_tokens'),
  })
}

export class TurnReading implements TurnReader {
  protected readonly sql: Sql
  protected readonly epoch: number
  readonly #logger: Logger

  constructor({ sql, logger, epoch }: RepositoryDeps) {
    this.sql = sql
    this.epoch = epoch
    this.#logger = logger
  }

  async get(turnId: TurnId): Promise<Turn | undefined> {
    const row = await this.sql.get(`SELECT ${COLUMNS} FROM turns WHERE id = $1`, [turnId])
    return row === undefined ? undefined : readRow(codec, row)
  }

  interrupted(): Promise<readonly Turn[]> {
    return this.#list("state = 'running' AND epoch < $1", [this.epoch])
  }

  running(): Promise<readonly Turn[]> {
    return this.#list("state = 'running'", [])
  }

  async spentSince(at: number): Promise<Spending> {
    const row = await this.sql.get(
      `SELECT COUNT(*) AS turns, ${SUMS} FROM turns WHERE id >= $1 AND state <> 'running'`,
      [turnIdFloor(at)],
    )
    const beside = await this.sql.get(`SELECT ${SUMS} FROM spent_beside_turns WHERE at >= $1`, [at])
    if (row === undefined || beside === undefined) return NOTHING_SPENT
    return { turns: integer(row, 'turns'), usage: addUsage(usageIn(row), usageIn(beside)) }
  }

  async #list(where: string, params: readonly SqlValue[]): Promise<readonly Turn[]> {
    const query = `SELECT ${COLUMNS} FROM turns WHERE ${where} ORDER BY started_at, id`
    return readRows(codec, await this.sql.all(query, params), this.#logger)
  }
}

export class TurnWriting extends TurnReading implements TurnWriter {
  async start(turn: NewTurn): Promise<void> {
    const started = await this.sql.run(
      `INSERT INTO turns (id, session_id, trace_id, reply, state, attempt, epoch, started_at)
        VALUES ($1, $2, $3, $4, 'running', 1, $5, $6) ON CONFLICT DO NOTHING`,
      [turn.id, turn.sessionId, turn.traceId, JSON.stringify(turn.reply), this.epoch, turn.startedAt],
    )
    if (started === 0) throw new ParleyError('conflict', `the session ${turn.sessionId} has a running turn already`)
  }

  async resume(turnId: TurnId): Promise<number> {
    const row = await this.sql.get(
      `UPDATE turns SET attempt = attempt + 1, epoch = $2 WHERE id = $1 AND state = 'running' AND epoch < $2
        RETURNING attempt`,
      [turnId, this.epoch],
    )
    if (row === undefined) throw new ParleyError('conflict', `the turn ${turnId} is not an interrupted one`)
    return integer(row, 'attempt')
  }

  async giveUpUnreadable(at: number): Promise<readonly Pick<Turn, 'id' | 'sessionId'>[]> {
    const rows = await this.sql.all(`SELECT ${COLUMNS} FROM turns WHERE state = 'running'`, [])
    const broken = rows.filter((row) => !isReadable(codec, row))
    const given: Pick<Turn, 'id' | 'sessionId'>[] = []
    for (const row of broken) {
      const end =
        "UPDATE turns SET state = 'quarantined', outcome = 'quarantined', ended_at = $2, error = 'quarantined' WHERE id = $1"
      await this.sql.run(end, [row.id as SqlValue, at])
      if (typeof row.id === 'string' && typeof row.session_id === 'string')
        given.push({ id: id(row, 'id'), sessionId: id(row, 'session_id') })
    }
    return given
  }

  async reopen(turnId: TurnId): Promise<number> {
    const row = await this.sql.get(
      `UPDATE turns SET state = 'running', outcome = NULL, ended_at = NULL, error = NULL, epoch = $2
        WHERE id = $1 AND state = 'failed' RETURNING attempt`,
      [turnId, this.epoch],
    )
    if (row === undefined) throw new ParleyError('conflict', `the turn ${turnId} has not failed`)
    return integer(row, 'attempt')
  }

  async suspend(turnId: TurnId): Promise<void> {
    const query = "UPDATE turns SET attempt = attempt - 1 WHERE id = $1 AND state = 'running' AND epoch = $2"
    await this.sql.run(query, [turnId, this.epoch])
  }

  async recount(turnId: TurnId, attempt: number): Promise<void> {
    await this.sql.run("UPDATE turns SET attempt = $2 WHERE id = $1 AND state = 'running'", [turnId, attempt])
  }

  async finish(turnId: TurnId, { state, outcome, at, usage, error, precheck }: TurnEnd): Promise<void> {
    const { input, output, cacheRead = 0, cacheWrite = 0 } = usage
    const finished = await this.sql.run(
      `UPDATE turns SET state = $1, outcome = $2, ended_at = $3, input_tokens = input_tokens + $4,
        output_tokens = output_tokens + $5, cache_read_tokens = cache_read_tokens + $6,
        cache_write_tokens = cache_write_tokens + $7, error = $8, precheck = $9
        WHERE id = $10 AND state = 'running' AND epoch = $11`,
      [
        ...[state, outcome, at, input, output, cacheRead, cacheWrite, error ?? null],
        ...[precheck === undefined ? null : JSON.stringify(precheck), turnId, this.epoch],
      ],
    )
    if (finished === 0) throw new ParleyError('conflict', `the turn ${turnId} is not running under this process`)
  }

  async spendBeside(at: number, { input, output, cacheRead = 0, cacheWrite = 0 }: Usage): Promise<void> {
    await this.sql.run(
      `INSERT INTO spent_beside_turns (at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
        VALUES ($1, $2, $3, $4, $5)`,
      [at, input, output, cacheRead, cacheWrite],
    )
  }

  sweepBeside(before: number, limit: number): Promise<number> {
    return this.sql.run(
      'DELETE FROM spent_beside_turns WHERE rowid IN (SELECT rowid FROM spent_beside_turns WHERE at < $1 LIMIT $2)',
      [before, limit],
    )
  }
}
