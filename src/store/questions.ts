import type { SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Answerer, FreeAnswer, NewQuestion, Question, QuestionState } from '../core/question.ts'
import type { QuestionReader, QuestionWriter } from './question-port.ts'
import {
  defined,
  fields,
  id,
  integer,
  isNumber,
  isOneOf,
  isText,
  listOf,
  maybe,
  oneOf,
  optional,
  type RowCodec,
  readFound,
  readRows,
  replyIn,
  shaped,
  text,
} from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const STATES: readonly QuestionState[] = ['asked', 'answered', 'told', 'ended']
const COLUMNS =
  'code, session_id, turn_id, call_id, part, trace_id, text, choices, free, server, reply, addressee, asked_at, state, late, answer, choice, answered_by'
const KEPT_MS = 90 * 86_400_000

const choicesIn = shaped<readonly string[]>(listOf(isText))
const freeIn = shaped<FreeAnswer>(
  fields({ kind: isOneOf('text', 'number', 'integer'), min: maybe(isNumber), max: maybe(isNumber) }),
)
const byIn = shaped<Answerer>(
  fields({ author: isText, sender: fields({ id: isText, kind: isText }), identity: fields({ role: isText }) }),
)

const codec: RowCodec<Question> = {
  table: 'questions',
  key: ['code'],
  decode: (row) => ({
    code: text(row, 'code'),
    sessionId: id(row, 'session_id'),
    turnId: id(row, 'turn_id'),
    callId: text(row, 'call_id'),
    part: integer(row, 'part'),
    traceId: id(row, 'trace_id'),
    text: text(row, 'text'),
    choices: choicesIn(row, 'choices'),
    reply: replyIn(row, 'reply'),
    askedAt: integer(row, 'asked_at'),
    state: oneOf(row, 'state', STATES),
    late: integer(row, 'late') === 1,
    ...defined({
      free: optional(row, 'free', freeIn),
      server: optional(row, 'server', text),
      to: optional(row, 'addressee', text),
      answer: optional(row, 'answer', text),
      choice: optional(row, 'choice', integer),
      by: optional(row, 'answered_by', byIn),
    }),
  }),
}

export class QuestionReading implements QuestionReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(code: string): Promise<Question | undefined> {
    return readFound(codec, await this.sql.get(`SELECT ${COLUMNS} FROM questions WHERE code = $1`, [code]))
  }

  async ofCall(turn: TurnId, callId: string, part: number): Promise<Question | undefined> {
    const query = `SELECT ${COLUMNS} FROM questions WHERE turn_id = $1 AND call_id = $2 AND part = $3`
    return readFound(codec, await this.sql.get(query, [turn, callId, part]))
  }

  async open(since: number): Promise<readonly Question[]> {
    const query = `SELECT ${COLUMNS} FROM questions WHERE state = 'asked' AND asked_at >= $1 ORDER BY asked_at, code`
    return readRows(codec, await this.sql.all(query, [since]), this.#logger)
  }

  async owed(since: number): Promise<readonly Question[]> {
    const query = `SELECT ${COLUMNS} FROM questions
      WHERE state = 'answered' AND late = 1 AND asked_at >= $1 ORDER BY asked_at, code`
    return readRows(codec, await this.sql.all(query, [since]), this.#logger)
  }
}

export class QuestionWriting extends QuestionReading implements QuestionWriter {
  async add({ code, sessionId, turnId, callId, part, traceId, askedAt, ...asked }: NewQuestion): Promise<void> {
    const { text: words, choices, free, server, reply, to } = asked
    await this.sql.run('DELETE FROM questions WHERE asked_at < $1', [askedAt - KEPT_MS])
    await this.sql.run(
      `INSERT INTO questions (code, session_id, turn_id, call_id, part, trace_id, text, choices, free, server, reply,
          addressee, asked_at, state)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'asked')`,
      [
        ...[code, sessionId, turnId, callId, part, traceId, words, JSON.stringify(choices)],
        ...[free === undefined ? null : JSON.stringify(free), server ?? null, JSON.stringify(reply), to ?? null],
        askedAt,
      ],
    )
  }

  async answer(
    code: string,
    { answer, choice, by }: Required<Pick<Question, 'answer' | 'by'>> & Pick<Question, 'choice'>,
  ): Promise<boolean> {
    const query = `UPDATE questions SET state = 'answered', answer = $2, choice = $3, answered_by = $4
      WHERE code = $1 AND state = 'asked'`
    return (await this.sql.run(query, [code, answer, choice ?? null, JSON.stringify(by)])) > 0
  }

  async take(code: string): Promise<Question | undefined> {
    await this.sql.run(
      `UPDATE questions SET late = CASE WHEN state = 'asked' THEN 1 ELSE late END,
          state = CASE WHEN state = 'answered' AND late = 0 THEN 'told' ELSE state END
        WHERE code = $1`,
      [code],
    )
    return this.get(code)
  }

  async end(code: string): Promise<void> {
    await this.sql.run("UPDATE questions SET state = 'ended' WHERE code = $1 AND state = 'asked'", [code])
  }

  async remove(session: SessionId): Promise<void> {
    await this.sql.run('DELETE FROM questions WHERE session_id = $1', [session])
  }
}
