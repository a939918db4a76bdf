import { ParleyError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
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

/** A JSON object written by this store; what is inside is trusted once it parses. */
export function json<T extends object>(row: SqlRow, column: string): T {
  const value: unknown = JSON.parse(text(row, column))
  if (typeof value !== 'object' || value === null) throw unreadable(column)
  return value as T
}

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
