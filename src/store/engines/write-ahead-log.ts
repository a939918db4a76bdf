import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { SqliteConnection } from './sqlite-connection.ts'

/** With so many transactions since the last look the store counts as idle: a watchdog makes some too. */
const IDLE_WRITES = 2
/** A smaller log is left: emptying it costs a sync of the database. */
const LARGE_LOG_BYTES = 256 * 1024
const LOG_HEADER = 32
const FRAME_HEADER = 24

/** The write-ahead log, which SQLite uses again from its beginning and never makes smaller by itself. */
export class WriteAheadLog {
  readonly #connection: SqliteConnection
  readonly #path: string
  /** Transactions since the last look. */
  writes = 0
  /** A scrub holds its read transaction: the log cannot be emptied, and an attempt would block until the timeout. */
  kept = false

  constructor(connection: SqliteConnection, path: string) {
    this.#connection = connection
    this.#path = path
  }

  /** Called between two groups. */
  truncateIfIdle(): boolean {
    const idle = this.writes <= IDLE_WRITES
    this.writes = 0
    if (!idle || this.kept || this.bytes() < LARGE_LOG_BYTES) return false
    return this.truncate()
  }

  /** Returns whether the log is empty. */
  truncate(): boolean {
    this.#connection.run('PRAGMA wal_checkpoint(TRUNCATE)', [])
    return this.bytes() === 0
  }

  bytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Returns the numbers of the pages in the log. */
  pages(pageSize: number): readonly number[] {
    const found = new Set<number>()
    const frame = FRAME_HEADER + pageSize
    const bytes = this.bytes()
    if (bytes === 0) return []
    // No lock of the engine is on this file: closing it drops none.
    const file = openSync(this.#path, 'r')
    try {
      const number = Buffer.alloc(4)
      for (let at = LOG_HEADER; at + frame <= bytes; at += frame) {
        readSync(file, number, 0, 4, at)
        found.add(number.readUInt32BE(0))
      }
    } finally {
      closeSync(file)
    }
    return [...found]
  }
}
