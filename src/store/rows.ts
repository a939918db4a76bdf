import type { Address } from '../core/address.ts'
import type { Decision, Dispatch, ReplyTarget } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Reader } from '../core/outbound.ts'
import type { SqlRow } from './sql.ts'

/** Converts rows of one table to values; `key` names the columns that identify the row. */
export interface RowCodec<T> {
  readonly table: string
  readonly key: readonly string[]
  decode(row: SqlRow): T
}

/** One row, or `unreadable` naming table and row when it cannot be read (C31). */
export function readRow<T>(codec: RowCodec<T>, row: SqlRow): T {
  try {
    return codec.decode(row)
  } catch (cause) {
    throw new ParleyError('unreadable', `the row ${rowName(codec, row)} of table ${codec.table} cannot be read`, {
      cause,
    })
  }
}

/** Returns whether a row can be read. */
export function isReadable<T>(codec: RowCodec<T>, row: SqlRow): boolean {
  try {
    codec.decode(row)
    return true
  } catch {
    return false
  }
}

/** Reads like `readRow`; returns undefined for no row. */
export function readFound<T>(codec: RowCodec<T>, row: SqlRow | undefined): T | undefined {
  return row === undefined ? undefined : readRow(codec, row)
}

const NONE: readonly never[] = []

/** A list continues without the rows that cannot be read; they are named in the log (C31, K32). */
export function readRows<T>(codec: RowCodec<T>, rows: readonly SqlRow[], logger: Logger): readonly T[] {
  if (rows.length === 0) return NONE
  const values: T[] = []
  const skipped: string[] = []
  for (const row of rows) {
    try {
      values.push(codec.decode(row))
    } catch {
      skipped.push(rowName(codec, row))
    }
  }
  if (skipped.length > 0) {
    logger.warn('stored rows cannot be read and were skipped', {
      table: codec.table,
      rows: skipped,
      count: skipped.length,
    })
  }
  return values
}

function rowName<T>(codec: RowCodec<T>, row: SqlRow): string {
  return codec.key.map((column) => String(row[column])).join(' ')
}

export function text(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw unreadable(column)
  return value
}

/** A branded id read back: the only place of the store where a string becomes one. */
export function id<Id extends string>(row: SqlRow, column: string): Id {
  return text(row, column) as Id
}

export function integer(row: SqlRow, column: string): number {
  const value = row[column]
  if (!Number.isSafeInteger(value)) throw unreadable(column)
  return value as number
}

/** `read` of a column that may be NULL, which is undefined. */
export function optional<T>(row: SqlRow, column: string, read: (row: SqlRow, column: string) => T): T | undefined {
  return row[column] === null ? undefined : read(row, column)
}

export function oneOf<Value extends string>(row: SqlRow, column: string, values: readonly Value[]): Value {
  const value = row[column] as Value
  if (!values.includes(value)) throw unreadable(column)
  return value
}

/** A test of a stored value: the daemon reads without asking what it has passed. */
type Shape = (value: unknown) => boolean

/** A JSON object written by this store, for readers that ask for each of its parts or look into none. */
export function json<T extends object>(row: SqlRow, column: string): T {
  const value: unknown = JSON.parse(text(row, column))
  if (typeof value !== 'object' || value === null) throw unreadable(column)
  return value as T
}

/** Returns a reader of JSON objects with that shape: another one makes its row as unreadable as no JSON does. */
export function shaped<T extends object>(shape: Shape): (row: SqlRow, column: string) => T {
  return (row, column) => {
    const value = json<T>(row, column)
    if (!shape(value)) throw unreadable(column)
    return value
  }
}

export const isText: Shape = (value) => typeof value === 'string'
export const isNumber: Shape = (value) => typeof value === 'number'

export function maybe(shape: Shape): Shape {
  return (value) => value === undefined || shape(value)
}

export function isOneOf(...values: readonly string[]): Shape {
  return (value) => values.includes(value as string)
}

export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape)
}

/** An object whose fields have these shapes; it may have others. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(shapes)
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    all.every(([name, shape]) => shape((value as Readonly<Record<string, unknown>>)[name]))
}

export const isAddress = fields({
  ...{ channel: isText, account: isText, chat: isText, topic: maybe(isText), post: maybe(isText) },
  ...{ chatType: isOneOf('direct', 'group', 'channel'), space: maybe(fields({ type: isText, id: isText })) },
})
export const isReader = fields({ platformId: isText, person: maybe(isText) })
const isReply = fields({ address: isAddress, replyTo: maybe(isText), reader: maybe(isReader) })
const isEvent = fields({
  ...{ kind: isText, eventKey: isText, address: isAddress, sender: fields({ id: isText, kind: isText }) },
  ...{ text: maybe(isText), messageId: maybe(isText), attachments: maybe(listOf(fields({ ref: isText }))) },
})
export const isScope = fields({ values: fields({}), dimensions: listOf(isText) })
const isRoute = fields({ agent: isText, scope: isScope, scopeKey: isText, displayKey: isText, kind: isText })
const isKind = isOneOf('run', 'context', 'control', 'amend', 'refuse', 'ignore')
const isLooked = fields({ kind: isKind, identity: fields({ role: isText }), trace: listOf(fields({})) })
const isRouted = fields({ route: isRoute })
const ROUTED = isOneOf('run', 'context', 'control')

export const addressIn = shaped<Address>(isAddress)
export const readerIn = shaped<Reader>(isReader)
export const replyIn = shaped<ReplyTarget>(isReply)
export const dispatchIn = shaped<Dispatch>(
  fields({ origin: isText, traceId: isText, receivedAt: isNumber, reply: isReply, event: isEvent }),
)
export const decisionIn = shaped<Decision>(
  (value) => isLooked(value) && (!ROUTED((value as Decision).kind) || isRouted(value)),
)

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The same fields without those that are undefined, so that absent stays absent. */
export function defined<T extends object>(fields: T): Defined<T> {
  const result: Defined<T> = {}
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined) result[key] = value as Exclude<T[typeof key], undefined>
  }
  return result
}

export function unreadable(column: string): Error {
  return new Error(`column ${column} holds something else than expected`)
}
