import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { AccountId, ChannelId, InboxId, SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { CLOCKS_DIFFER_MS, sendingSpan } from '../core/sending-span.ts'
import type { InboxOutcome } from '../core/turn-end.ts'
import { idInLife } from './deleted-id.ts'
import type { InboxReader, InboxRow, InboxState, InboxWriter, NewInboxRow } from './inbox-port.ts'
import {
  decisionIn,
  defined,
  dispatchIn,
  id,
  integer,
  isReadable,
  oneOf,
  optional,
  type RowCodec,
  readFound,
  readRows,
  text,
} from './rows.ts'
import { inBatches, placeholders, type RepositoryDeps, type Sql, type SqlRow, type SqlValue } from './sql.ts'

const STATES: readonly InboxState[] = ['waiting', 'claimed', 'done']
/** A message bound to a turn ends with it: its row is not written again, the turn's does. */
const COLUMNS = `inbox.id, inbox.session_id, inbox.turn_id, dispatch, decision,
  CASE WHEN inbox.state = 'claimed' AND turns.outcome IS NOT NULL THEN 'done' ELSE inbox.state END AS state,
  COALESCE(inbox.outcome, turns.outcome) AS outcome`
const ROWS = 'inbox LEFT JOIN turns ON turns.id = inbox.turn_id'
const TURN: Decision['kind'] = 'run'
const COMMAND: Decision['kind'] = 'control'

/** Asked after every turn: a constant is found faster in the cache of statements. */
const WAITING = `SELECT ${COLUMNS} FROM ${ROWS}
  WHERE inbox.state = 'waiting' AND inbox.session_id = $1 AND kind = $2 ORDER BY no LIMIT ($3 + 0)`

/** The index has it: what comes late is asked for by when it was sent, an edit by when its message was. */
const SAID_AT = `CASE WHEN json_valid(dispatch)
  THEN COALESCE(json_extract(dispatch, '$.event.saidAt'), json_extract(dispatch, '$.event.sentAt')) END`

const codec: RowCodec<InboxRow> = {
  table: 'inbox',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    dispatch: dispatchIn(row, 'dispatch'),
    decision: decisionIn(row, 'decision'),
    state: oneOf(row, 'state', STATES),
    ...defined({
      sessionId: optional(row, 'session_id', id<SessionId>),
      turnId: optional(row, 'turn_id', id<TurnId>),
      outcome: optional(row, 'outcome', text) as InboxOutcome | undefined,
    }),
  }),
}

export class InboxReading implements InboxReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(inboxId: InboxId): Promise<InboxRow | undefined> {
    return found(await this.sql.get(`SELECT ${COLUMNS} FROM ${ROWS} WHERE inbox.id = $1`, [inboxId]))
  }

  waiting(sessionId: SessionId, limit: number): Promise<readonly InboxRow[]> {
    return this.#read(WAITING, [sessionId, TURN, limit])
  }

  async sessionsWaiting(): Promise<readonly SessionId[]> {
    const query = `SELECT session_id FROM inbox WHERE state = 'waiting' AND session_id IS NOT NULL AND kind = $1
      GROUP BY session_id ORDER BY MIN(no)`
    return (await this.sql.all(query, [TURN])).map((row) => id(row, 'session_id'))
  }

  async waitingCount(): Promise<number> {
    const row = await this.sql.get("SELECT COUNT(*) AS count FROM inbox WHERE state = 'waiting' AND kind <> $1", [
      COMMAND,
    ])
    return row === undefined ? 0 : integer(row, 'count')
  }

  commandsWaiting(): Promise<readonly InboxRow[]> {
    return this.#list("inbox.state = 'waiting' AND kind = $1 ORDER BY no", [COMMAND])
  }

  ofTurn(turnId: TurnId): Promise<readonly InboxRow[]> {
    return this.#list('turn_id = $1 ORDER BY no', [turnId])
  }

  async byKey(channel: ChannelId, account: AccountId, eventKey: string): Promise<InboxRow | undefined> {
    const query = `SELECT ${COLUMNS} FROM ${ROWS} WHERE channel = $1 AND account = $2 AND event_key = $3`
    return found(await this.sql.get(query, [channel, account, eventKey]))
  }

  find(name: string): Promise<readonly InboxRow[]> {
    return this.#list('inbox.id = $1 OR inbox.trace_id = $1 OR message_id = $1 ORDER BY no DESC LIMIT 20', [name])
  }

  ofMessage(channel: ChannelId, messageId: string, chat?: string): Promise<readonly InboxRow[]> {
    const where = 'message_id = $1 AND channel = $2'
    if (chat === undefined) return this.#list(`${where} ORDER BY no DESC LIMIT 200`, [messageId, channel])
    // A row that cannot be read is of no chat: without the question the whole statement would fail.
    const here = "CASE WHEN json_valid(dispatch) THEN json_extract(dispatch, '$.event.address.chat') END = $3"
    return this.#list(`${where} AND ${here} ORDER BY no DESC LIMIT 200`, [messageId, channel, chat])
  }

  async saidAt(channel: ChannelId, at: number): Promise<readonly InboxRow[]> {
    if (!(await this.#hasAskedSince(at))) return []
    return this.#list(`message_id IS NOT NULL AND ${SAID_AT} = $1 AND channel = $2 ORDER BY no`, [at, channel])
  }

  async piecesOf(channel: ChannelId, of: string, at: number): Promise<readonly InboxRow[]> {
    if (!(await this.#hasAskedSince(at))) return []
    // The pieces of one text are sent in less.
    const { from, to } = sendingSpan(at)
    const isPiece = "CASE WHEN json_valid(dispatch) THEN json_extract(dispatch, '$.event.piece.of') END = $3"
    const where = `message_id IS NOT NULL AND ${SAID_AT} BETWEEN $1 AND $2 AND ${isPiece} AND channel = $4 ORDER BY no`
    return this.#list(where, [from, to, of, channel])
  }

  async #hasAskedSince(at: number): Promise<boolean> {
    const query = 'SELECT 1 AS asked FROM forgettings WHERE asked_at > $1 LIMIT 1'
    return (await this.sql.get(query, [at - CLOCKS_DIFFER_MS])) !== undefined
  }

  unanswered(limit: number): Promise<readonly InboxRow[]> {
    const where =
      "(inbox.outcome = 'ignored: restored' OR turns.outcome = 'ignored: restored') ORDER BY no DESC LIMIT $1"
    return this.#list(where, [limit])
  }

  recent(limit: number, offset = 0): Promise<readonly InboxRow[]> {
    return this.#list('no > 0 ORDER BY no DESC LIMIT $1 OFFSET $2', [limit, offset])
  }

  waitingTexts(channel: ChannelId, messageId: string): Promise<readonly InboxRow[]> {
    const where = "inbox.state = 'waiting' AND message_id = $1 AND channel = $2 AND kind = $3 ORDER BY no"
    return this.#list(where, [messageId, channel, TURN])
  }

  inSession(sessionId: SessionId, messageId: string): Promise<readonly InboxRow[]> {
    return this.#list('message_id = $1 AND inbox.session_id = $2 ORDER BY no', [messageId, idInLife(sessionId)])
  }

  #list(where: string, params: readonly SqlValue[]): Promise<readonly InboxRow[]> {
    return this.#read(`SELECT ${COLUMNS} FROM ${ROWS} WHERE ${where}`, params)
  }

  async #read(query: string, params: readonly SqlValue[]): Promise<readonly InboxRow[]> {
    return readRows(codec, await this.sql.all(query, params), this.#logger)
  }
}

function found(row: SqlRow | undefined): InboxRow | undefined {
  return readFound(codec, row)
}

/** More ids than this are claimed in several statements, so that few statement texts exist. */
const IDS_PER_CLAIM = 50

export class InboxWriting extends InboxReading implements InboxWriter {
  async add(row: NewInboxRow): Promise<boolean> {
    const { dispatch, decision } = row
    const { address, eventKey } = dispatch.event
    const added = await this.sql.run(
      `INSERT INTO inbox (id, channel, account, event_key, kind, session_id, turn_id, trace_id, message_id, state,
        outcome, dispatch, decision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ON CONFLICT (channel, account, event_key) DO NOTHING`,
      [
        row.id,
        address.channel,
        address.account,
        eventKey,
        decision.kind,
        row.sessionId ?? null,
        row.turnId ?? null,
        dispatch.traceId,
        'messageId' in dispatch.event ? dispatch.event.messageId : null,
        row.state,
        row.outcome ?? null,
        JSON.stringify(dispatch),
        JSON.stringify(decision),
      ],
    )
    return added > 0
  }

  async claim(ids: readonly InboxId[], turnId: TurnId): Promise<number> {
    let claimed = 0
    for (const some of inBatches(ids, IDS_PER_CLAIM)) {
      const query = `UPDATE inbox SET state = 'claimed', turn_id = $1
        WHERE state = 'waiting' AND id IN (${placeholders(some.length, 2)})`
      claimed += await this.sql.run(query, [turnId, ...some])
    }
    return claimed
  }

  async giveUpUnreadable(): Promise<readonly InboxId[]> {
    const rows = await this.sql.all(`SELECT ${COLUMNS} FROM ${ROWS} WHERE inbox.state = 'waiting' ORDER BY no`, [])
    const ids = rows.filter((row) => !isReadable(codec, row)).map((row) => id<InboxId>(row, 'id'))
    for (const one of ids) await this.settle(one, 'refused: unreadable')
    return ids
  }

  async settle(inboxId: InboxId, outcome: InboxOutcome): Promise<void> {
    await this.sql.run("UPDATE inbox SET state = 'done', outcome = $2 WHERE id = $1", [inboxId, outcome])
  }

  /** Commands are left alone: the `/stop` that asks for this is one of them. */
  settleWaiting(sessionId: SessionId, outcome: InboxOutcome): Promise<number> {
    const query = `UPDATE inbox SET state = 'done', outcome = $3
      WHERE state = 'waiting' AND session_id = $1 AND kind = $2`
    return this.sql.run(query, [sessionId, TURN, outcome])
  }

  reopen(turnId: TurnId, sessionId: SessionId): Promise<number> {
    const query = `UPDATE inbox SET state = 'waiting', outcome = NULL, turn_id = NULL, session_id = $2
      WHERE turn_id = $1`
    return this.sql.run(query, [turnId, sessionId])
  }

  async replaceDispatch(inboxId: InboxId, dispatch: Dispatch): Promise<void> {
    await this.sql.run('UPDATE inbox SET dispatch = $2 WHERE id = $1', [inboxId, JSON.stringify(dispatch)])
  }
}
