import type { Address } from '../core/address.ts'
import { ParleyError } from '../core/errors.ts'
import { asideFrom, type DeliveryId, deliveryIdFloor, type SessionId, type SourceId, type TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import {
  DECIDED,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryClass,
  type DeliveryOp,
  type DeliveryState,
  type LowPriority,
  type Reader,
  type Recipient,
  type RenderedPart,
} from '../core/outbound.ts'
import type {
  ChatName,
  DeliveryChange,
  DeliveryListQuery,
  DeliveryReplacement,
  NewDelivery,
  OutboxReader,
  OutboxWriter,
  PlannedTimes,
  UnreadableDelivery,
} from './outbox-port.ts'
import { unquoted } from './quoted-words.ts'
import {
  addressIn,
  defined,
  fields,
  id,
  integer,
  isNumber,
  isOneOf,
  isReadable,
  isText,
  listOf,
  maybe,
  oneOf,
  optional,
  type RowCodec,
  readerIn,
  readFound,
  readRows,
  shaped,
  text,
} from './rows.ts'
import {
  inBatches,
  placeholders,
  type RepositoryDeps,
  type Sql,
  type SqlRow,
  type SqlValue,
  type WriteDeps,
} from './sql.ts'

const COLUMNS = `id, source, part_no, session_id, trace_id, address, class, op, part, reply_to, state, attempt,
  owner_epoch, not_before, expires_at, started_at, message_id, reason, recipient, low_priority, reader, media, quoting`
const WIDTH = 23

/**
 * Leaves out `sent`, the end of most rows, which has no place in the index of states; a query must say so to use the
 * index.
 */
const NOT_SENT = "state <> 'sent'"

const CLASSES: readonly DeliveryClass[] = ['reply', 'effect', 'control', 'notice']
const OPS: readonly DeliveryOp[] = ['send', 'edit', 'delete']

/** Includes the column that a row has only after a growing reply was lost. */
const ALL_COLUMNS = `${COLUMNS}, earlier`

const OWED = `${NOT_SENT} AND state IN ('planned', 'sending', 'waiting', 'uncertain') ORDER BY no`

/** The reasons of a row whose text was taken out: nothing of it is ever sent again. */
const DELETED = "'its session was deleted'"
export const FORGOTTEN = "'it was forgotten'"
const BLANKED = `(${DELETED}, ${FORGOTTEN})`
const IS_BLANK = `COALESCE(reason, '') IN ${BLANKED}`

/** The part of a row without its text. */
export const BLANK_PART = JSON.stringify({ text: '', plain: '', markup: 'plain' })

/** Returns the state, or the end that takes its place where nothing more is sent. */
export function endedBy(state: string): string {
  return `CASE WHEN ${state} IN ('planned', 'waiting') THEN 'expired'
    WHEN ${state} IN ('sending', 'uncertain') THEN 'given_up' ELSE ${state} END`
}

const partIn = shaped<RenderedPart>(
  fields({
    ...{ text: isText, plain: isText, markup: isOneOf('html', 'markdown', 'mrkdwn', 'plain') },
    buttons: maybe(listOf(fields({ label: isText, command: isText }))),
    quoting: maybe(fields({ text: isText, plain: isText, of: isText })),
    file: maybe(fields({ media: isText, name: isText, mime: isText, size: isNumber, as: isText })),
  }),
)
const recipientIn = shaped<Recipient>(
  fields({ id: isText, handle: maybe(isText), otherwise: isOneOf('here', 'direct') }),
)
const lowPriorityIn = shaped<LowPriority>(fields({ supersedes: maybe(isText) }))

const codec: RowCodec<Delivery> = {
  table: 'outbox',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    source: id(row, 'source'),
    partNo: integer(row, 'part_no'),
    traceId: id(row, 'trace_id'),
    address: addressIn(row, 'address'),
    class: oneOf(row, 'class', CLASSES),
    op: oneOf(row, 'op', OPS),
    part: partIn(row, 'part'),
    state: oneOf(row, 'state', DELIVERY_STATES),
    attempt: integer(row, 'attempt'),
    ownerEpoch: integer(row, 'owner_epoch'),
    expiresAt: integer(row, 'expires_at'),
    ...defined({
      sessionId: optional(row, 'session_id', id<SessionId>),
      replyTo: optional(row, 'reply_to', text),
      notBefore: optional(row, 'not_before', integer),
      startedAt: optional(row, 'started_at', integer),
      messageId: optional(row, 'message_id', text),
      reason: optional(row, 'reason', text),
      only: optional(row, 'recipient', recipientIn),
      lowPriority: optional(row, 'low_priority', lowPriorityIn),
      reader: optional(row, 'reader', readerIn),
      earlier: optional(row, 'earlier', partIn),
    }),
  }),
}

const placeCodec: RowCodec<{ readonly address: Address }> = {
  ...codec,
  decode: (row) => ({ address: addressIn(row, 'address') }),
}

export class OutboxReading implements OutboxReader {
  protected readonly sql: Sql
  protected readonly epoch: number
  readonly #logger: Logger

  constructor({ sql, logger, epoch }: RepositoryDeps) {
    this.sql = sql
    this.epoch = epoch
    this.#logger = logger
  }

  async get(deliveryId: DeliveryId): Promise<Delivery | undefined> {
    return found(await this.sql.get(`SELECT ${ALL_COLUMNS} FROM outbox WHERE id = $1`, [deliveryId]))
  }

  ofSource(source: SourceId): Promise<readonly Delivery[]> {
    return this.#list('source = $1 ORDER BY part_no', [source])
  }

  ofTurn(turn: TurnId): Promise<readonly Delivery[]> {
    const from = asideFrom(turn)
    const where = '(source = $1 OR (source >= $2 AND source < $3)) ORDER BY source, part_no'
    return this.#list(where, [turn, from, `${from}~`])
  }

  /** No index by message id: every send would pay for a question that is asked now and then. */
  ofMessage(messageId: string): Promise<readonly Delivery[]> {
    return this.#list('no > (SELECT MAX(no) FROM outbox) - 20000 AND message_id = $1 ORDER BY no DESC', [messageId])
  }

  plannedFor({ channel, chat }: ChatName, { from, to, begunSince }: PlannedTimes): Promise<readonly Delivery[]> {
    const there = `CASE WHEN json_valid(address)
      THEN json_extract(address, '$.channel') = $4 AND json_extract(address, '$.chat') = $5 END`
    const found = `SELECT no FROM outbox WHERE id >= $1 AND id < $2
      UNION ALL SELECT no FROM outbox WHERE reason = ${FORGOTTEN} AND started_at >= $3`
    const times = [deliveryIdFloor(Math.max(0, from)), deliveryIdFloor(to), begunSince]
    return this.#list(`no IN (${found}) AND ${there} ORDER BY no`, [...times, channel, chat])
  }

  unfinished(): Promise<readonly Delivery[]> {
    return this.#list(`held IS NULL AND ${OWED}`, [])
  }

  async unreadable(): Promise<readonly UnreadableDelivery[]> {
    const rows = await this.sql.all(`SELECT ${ALL_COLUMNS} FROM outbox WHERE ${OWED}`, [])
    return rows
      .filter((row) => !isReadable(codec, row))
      .map((row) => ({ id: id(row, 'id'), ...(isReadable(placeCodec, row) ? placeCodec.decode(row) : {}) }))
  }

  async counts(): Promise<Partial<Record<DeliveryState, number>>> {
    const all = await this.sql.get('SELECT COUNT(*) AS total FROM outbox', [])
    let sent = all === undefined ? 0 : integer(all, 'total')
    const others = await this.unsentCounts()
    for (const total of Object.values(others)) sent -= total
    return sent > 0 ? { ...others, sent } : others
  }

  async unsentCounts(): Promise<Partial<Record<DeliveryState, number>>> {
    const query = `SELECT state, COUNT(*) AS total FROM outbox WHERE ${NOT_SENT} GROUP BY state`
    const rows = await this.sql.all(query, [])
    return Object.fromEntries(rows.map((row) => [oneOf(row, 'state', DELIVERY_STATES), integer(row, 'total')]))
  }

  async undecidedCount(): Promise<number> {
    const query = `SELECT COUNT(*) AS total FROM outbox WHERE ${NOT_SENT} AND state IN ('uncertain', 'given_up')
      AND COALESCE(reason, '') NOT IN ('${DECIDED.dropped}', '${DECIDED.discarded}', ${DELETED}, ${FORGOTTEN})`
    const row = await this.sql.get(query, [])
    return row === undefined ? 0 : integer(row, 'total')
  }

  async owedOf(prefix: string): Promise<number> {
    const query = `SELECT COUNT(*) AS total FROM outbox WHERE ${NOT_SENT}
      AND state IN ('planned', 'sending', 'waiting', 'uncertain') AND source >= $1 AND source < $2`
    const row = await this.sql.get(query, [prefix, `${prefix}~`])
    return row === undefined ? 0 : integer(row, 'total')
  }

  async recent(states: readonly DeliveryState[], limit: number): Promise<readonly Delivery[]> {
    if (states.length === 0) return []
    const indexed = states.includes('sent') ? '' : `${NOT_SENT} AND `
    const where = `${indexed}state IN (${placeholders(states.length, 2)}) ORDER BY no DESC LIMIT $1`
    return this.#list(where, [limit, ...states])
  }

  async page(query: DeliveryListQuery): Promise<readonly Delivery[]> {
    const { where, params } = pageWhere(query)
    return query.states.length === 0 ? [] : this.#list(where, params)
  }

  async #list(where: string, params: readonly SqlValue[]): Promise<readonly Delivery[]> {
    const query = `SELECT ${ALL_COLUMNS} FROM outbox WHERE ${where}`
    return readRows(codec, await this.sql.all(query, params), this.#logger)
  }
}

function found(row: SqlRow | undefined): Delivery | undefined {
  return readFound(codec, row)
}

/** More rows than this are inserted in several statements, so that few statement texts exist. */
const ROWS_PER_INSERT = 32

export class OutboxWriting extends OutboxReading implements OutboxWriter {
  readonly #deps: WriteDeps

  constructor(deps: WriteDeps) {
    super(deps)
    this.#deps = deps
  }

  async add(rows: readonly NewDelivery[]): Promise<void> {
    for (const some of inBatches(rows, ROWS_PER_INSERT)) await this.#insert(some)
  }

  async #insert(rows: readonly NewDelivery[]): Promise<void> {
    const params: SqlValue[] = []
    for (const row of rows) pushParams(params, row, this.epoch)
    const added = await this.sql.run(insertText(rows.length), params)
    if (added < rows.length) throw new ParleyError('conflict', 'a part of this message is in the outbox already')
    const { named, sql } = this.#deps
    const media = rows.flatMap(({ part }) => part.file?.media ?? [])
    // From here on the row keeps a file from the sweep, so that it goes as soon as the row is emptied.
    if (named && media.length > 0) sql.afterCommit(() => named(media))
  }

  async begin(deliveryId: DeliveryId, from: readonly DeliveryState[], at: number): Promise<boolean> {
    if (from.length === 0) return false
    const query = `UPDATE outbox SET state = 'sending', attempt = attempt + 1, owner_epoch = $1, started_at = $2
      WHERE id = $3 AND state IN (${placeholders(from.length, 4)})`
    return (await this.sql.run(query, [this.epoch, at, deliveryId, ...from])) > 0
  }

  async settle(deliveryId: DeliveryId, change: DeliveryChange): Promise<void> {
    const settled = await this.sql.run(
      `UPDATE outbox SET state = CASE WHEN reason IN ${BLANKED} THEN ${endedBy('$1')} ELSE $1 END,
        message_id = COALESCE($2, message_id), reason = CASE WHEN reason IN ${BLANKED} THEN reason ELSE COALESCE($3, reason) END,
        not_before = $4, address = COALESCE($6, address) WHERE id = $5`,
      [
        ...[change.state, change.messageId ?? null, change.reason ?? null, change.notBefore ?? null, deliveryId],
        change.address === undefined ? null : JSON.stringify(change.address),
      ],
    )
    if (settled === 0) throw unknownDelivery(deliveryId)
  }

  /** A text that was forgotten comes back by no change, and what stands of it in a chat can be deleted. */
  async replace(deliveryId: DeliveryId, change: DeliveryReplacement): Promise<void> {
    const part = await this.#asLeft(deliveryId, change.part)
    const sending = change.state === 'sending'
    // The right side of an assignment is the row as it was.
    const lost = change.state === 'uncertain' ? ', earlier = COALESCE(earlier, part)' : ''
    const claim = sending ? ', attempt = attempt + 1, owner_epoch = $9, started_at = $10' : ''
    const replaced = await this.sql.run(
      `UPDATE outbox SET op = $2, part = CASE WHEN ${IS_BLANK} THEN part ELSE $3 END, state = $4, low_priority = $5,
        expires_at = COALESCE($6, expires_at), media = $7, recipient = COALESCE($8, recipient), not_before = NULL, reason = NULL${lost}${claim}
        WHERE id = $1 AND (NOT ${IS_BLANK} OR ($2 = 'delete' AND reason = ${FORGOTTEN} AND state IN ('sent', 'resent')))`,
      [
        deliveryId,
        change.op,
        JSON.stringify(part),
        change.state,
        jsonOrNull(change.lowPriority),
        change.expiresAt ?? null,
        change.part.file?.media ?? null,
        jsonOrNull(change.only),
        ...(sending ? [this.epoch, change.at] : []),
      ],
    )
    if (replaced === 0 && (await this.get(deliveryId)) === undefined) throw unknownDelivery(deliveryId)
  }

  /** Returns a part as it may stand in a row: the words that it quotes may have been taken out since it was read. */
  async #asLeft(deliveryId: DeliveryId, part: RenderedPart): Promise<RenderedPart> {
    if (part.quoting === undefined) return part
    const row = await this.sql.get('SELECT quoting FROM outbox WHERE id = $1', [deliveryId])
    return row === undefined || row.quoting === null ? unquoted(part) : part
  }

  /** A part on the wire loses its text too: its sender has it in memory, and reports only what became of it. */
  async blank(source: SourceId): Promise<void> {
    const query = `UPDATE outbox SET part = $2, earlier = NULL, media = NULL, reason = ${DELETED}, state = ${endedBy('state')}
      WHERE source = $1`
    await this.sql.run(query, [source, BLANK_PART])
  }

  fence(): Promise<number> {
    const query = `UPDATE outbox SET state = 'uncertain' WHERE ${NOT_SENT} AND state = 'sending' AND owner_epoch < $1`
    return this.sql.run(query, [this.epoch])
  }
}

function unknownDelivery(deliveryId: DeliveryId): ParleyError {
  return new ParleyError('not_found', `there is no delivery ${deliveryId}`)
}

const insertTexts = new Map<number, string>()

/** Returns the statement that adds so many rows. */
function insertText(count: number): string {
  const known = insertTexts.get(count)
  if (known !== undefined) return known
  const tuples = Array.from({ length: count }, (_, row) => `(${placeholders(WIDTH, 1 + row * WIDTH)})`)
  const statement = `INSERT INTO outbox (${COLUMNS}) VALUES ${tuples.join(', ')} ON CONFLICT DO NOTHING`
  insertTexts.set(count, statement)
  return statement
}

/** Adds the values of a row in the order of its columns. */
function pushParams(params: SqlValue[], row: NewDelivery, epoch: number): void {
  const sending = row.state === 'sending'
  params.push(
    row.id,
    row.source,
    row.partNo,
    row.sessionId ?? null,
    row.traceId,
    JSON.stringify(row.address),
    row.class,
    row.op,
    JSON.stringify(row.part),
    row.replyTo ?? null,
    row.state,
    sending ? 1 : 0,
    sending ? epoch : 0,
    row.notBefore ?? null,
    row.expiresAt,
    row.startedAt ?? null,
    row.messageId ?? null,
    row.reason ?? null,
    jsonOrNull(row.only),
    jsonOrNull(row.lowPriority),
    jsonOrNull(row.reader),
    row.part.file?.media ?? null,
    row.part.quoting?.of ?? null,
  )
}

function jsonOrNull(value: Recipient | LowPriority | Reader | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** Returns the condition of a page, newest first. */
function pageWhere({ states, session, after, limit }: DeliveryListQuery): {
  readonly where: string
  readonly params: readonly SqlValue[]
} {
  const params: SqlValue[] = [limit, ...states]
  const conditions = [
    ...(states.includes('sent') ? [] : [NOT_SENT]),
    `state IN (${placeholders(states.length, 2)})`,
    ...(after === undefined ? [] : [`no < (SELECT no FROM outbox WHERE id = $${params.push(after)})`]),
    ...(session === undefined
      ? []
      : ['no > (SELECT MAX(no) FROM outbox) - 20000', `session_id = $${params.push(session)}`]),
  ]
  return { where: `${conditions.join(' AND ')} ORDER BY no DESC LIMIT $1`, params }
}
