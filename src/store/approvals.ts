import type { Approval, ApprovalState, NewApproval } from '../core/approval.ts'
import type { SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { ApprovalReader, ApprovalWriter } from './approval-port.ts'
import {
  defined,
  id,
  integer,
  json,
  oneOf,
  optional,
  type RowCodec,
  readFound,
  readRows,
  replyIn,
  text,
} from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const STATES: readonly ApprovalState[] = ['asked', 'allowed', 'denied', 'used']
const COLUMNS =
  'code, session_id, turn_id, call_id, trace_id, tool, args, reply, asked_at, state, late, decided_by, decided_at, used_by, for_owners'
const KEPT_MS = 90 * 86_400_000

const codec: RowCodec<Approval> = {
  table: 'approvals',
  key: ['code'],
  decode: (row) => ({
    code: text(row, 'code'),
    sessionId: id(row, 'session_id'),
    turnId: id(row, 'turn_id'),
    callId: text(row, 'call_id'),
    traceId: id(row, 'trace_id'),
    tool: text(row, 'tool'),
    args: json(row, 'args'),
    reply: replyIn(row, 'reply'),
    askedAt: integer(row, 'asked_at'),
    state: oneOf(row, 'state', STATES),
    late: integer(row, 'late') === 1,
    ...defined({
      decidedBy: optional(row, 'decided_by', text),
      decidedAt: optional(row, 'decided_at', integer),
      usedBy: optional(row, 'used_by', id<TurnId>),
    }),
    ...(integer(row, 'for_owners') === 1 ? ({ forOwners: true } as const) : {}),
  }),
}

export class ApprovalReading implements ApprovalReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(code: string): Promise<Approval | undefined> {
    return readFound(codec, await this.sql.get(`SELECT ${COLUMNS} FROM approvals WHERE code = $1`, [code]))
  }

  async ofCall(turn: TurnId, callId: string): Promise<Approval | undefined> {
    const query = `SELECT ${COLUMNS} FROM approvals WHERE turn_id = $1 AND call_id = $2`
    return readFound(codec, await this.sql.get(query, [turn, callId]))
  }

  async open(since: number): Promise<readonly Approval[]> {
    const query = `SELECT ${COLUMNS} FROM approvals WHERE state = 'asked' AND asked_at >= $1 ORDER BY asked_at, code`
    return readRows(codec, await this.sql.all(query, [since]), this.#logger)
  }

  async owed(since: number): Promise<readonly Approval[]> {
    const query = `SELECT ${COLUMNS} FROM approvals
      WHERE state = 'allowed' AND late = 1 AND asked_at >= $1 ORDER BY asked_at, code`
    return readRows(codec, await this.sql.all(query, [since]), this.#logger)
  }
}

export class ApprovalWriting extends ApprovalReading implements ApprovalWriter {
  async add({ code, sessionId, turnId, callId, traceId, tool, reply, askedAt, ...asked }: NewApproval): Promise<void> {
    const [args, forOwners] = [JSON.stringify(asked.args), asked.forOwners ? 1 : 0]
    await this.sql.run('DELETE FROM approvals WHERE asked_at < $1', [askedAt - KEPT_MS])
    await this.sql.run(
      `INSERT INTO approvals (code, session_id, turn_id, call_id, trace_id, tool, args, reply, asked_at, for_owners, state)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'asked')`,
      [code, sessionId, turnId, callId, traceId, tool, args, JSON.stringify(reply), askedAt, forOwners],
    )
  }

  async decide(
    code: string,
    { state, by, at }: { readonly state: 'allowed' | 'denied'; readonly by: string; readonly at: number },
  ): Promise<boolean> {
    const query = `UPDATE approvals SET state = $2, decided_by = $3, decided_at = $4 WHERE code = $1 AND state = 'asked'`
    return (await this.sql.run(query, [code, state, by, at])) > 0
  }

  async use(code: string, by: TurnId): Promise<boolean> {
    const query = "UPDATE approvals SET state = 'used', used_by = $2 WHERE code = $1 AND state = 'allowed'"
    return (await this.sql.run(query, [code, by])) > 0
  }

  async leave(turn: TurnId, callId: string): Promise<void> {
    const query = `UPDATE approvals SET late = 1 WHERE turn_id = $1 AND call_id = $2 AND state IN ('asked', 'allowed')`
    await this.sql.run(query, [turn, callId])
  }

  async remove(session: SessionId): Promise<void> {
    await this.sql.run('DELETE FROM approvals WHERE session_id = $1', [session])
  }
}
