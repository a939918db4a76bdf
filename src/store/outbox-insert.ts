import type { LowPriority, Reader, Recipient } from '../core/outbound.ts'
import type { NewDelivery } from './outbox-port.ts'
import { placeholders, type SqlValue } from './sql.ts'

export const COLUMNS = `id, source, part_no, session_id, trace_id, address, class, op, part, reply_to, state, attempt,
  owner_epoch, not_before, expires_at, started_at, message_id, reason, recipient, low_priority, reader, media, quoting`
const WIDTH = 23

const insertTexts = new Map<number, string>()

/** Returns the statement that adds so many rows. */
export function insertText(count: number): string {
  const known = insertTexts.get(count)
  if (known !== undefined) return known
  const tuples = Array.from({ length: count }, (_, row) => `(${placeholders(WIDTH, 1 + row * WIDTH)})`)
  const statement = `INSERT INTO outbox (${COLUMNS}) VALUES ${tuples.join(', ')} ON CONFLICT DO NOTHING`
  insertTexts.set(count, statement)
  return statement
}

/** Adds the values of a row in the order of its columns. */
export function pushParams(params: SqlValue[], row: NewDelivery, epoch: number): void {
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

export function jsonOrNull(value: Recipient | LowPriority | Reader | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
