import { closeSync, constants, fdatasync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ParleyError } from '../../core/errors.ts'
import type { GroupCommit } from './group-commit.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { type ByteRange, type FileShape, freeListOf, overflowsOf, shapeOf, tailOf, unusedOf } from './unused-bytes.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

export interface ScrubDeps {
  readonly connection: SqliteConnection
  readonly group: Pick<GroupCommit, 'read'>
  readonly log: WriteAheadLog
  readonly path: string
  /** Opens the database once more. */
  reopen(this: void): SqliteConnection
}

/** Pages between two turns of the event loop: a millisecond. */
const PAGES_AT_ONCE = 64
/** Pages that are scrubbed in one turn of the event loop at the end; if more were written, there is another round. */
const MOST_AT_END = 1_000
const ROUNDS = 5

/** Set once the whole file was scrubbed: since `secure_delete` only pages of rows get new remains. */
const SCRUBBED = "SELECT value FROM counters WHERE name = 'scrubbed'"
const SET_SCRUBBED = "INSERT INTO counters (name, value) VALUES ('scrubbed', 1) ON CONFLICT DO NOTHING"

/**
 * Overwrites the bytes of the database file that the engine does not use (decision 0038). Meanwhile a second connection
 * holds a read transaction that was begun with an empty write-ahead log: as long as it is open the engine writes to the
 * log alone and never to the file. The bytes belong to no row, so that a crash in the middle damages nothing. An
 * encrypted file is left as it is.
 */
export class Scrubber {
  readonly #deps: ScrubDeps
  #running: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  /** Closed after the engine: to close any file of the database drops the locks that this process has on it. */
  #file: number | undefined
  #stopped = false
  /** Pages that were in the log since they were done last. */
  readonly #written = new Set<number>()

  constructor(deps: ScrubDeps) {
    this.#deps = deps
  }

  /** Resolves with false if somebody who reads kept the log from being emptied. Calls during a run share the next one. */
  scrub(): Promise<boolean> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running
      .catch(() => false)
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  /** Resolves once nothing is overwritten any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running?.catch(() => false)
  }

  /** Called once the engine has closed the database. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }

  #start(): Promise<boolean> {
    this.#running = this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<boolean> {
    const { connection, group } = this.#deps
    const whole = await group.read(() => connection.get(SCRUBBED, []) === undefined)
    this.#written.clear()
    const shape = await this.#round((found) => (whole ? this.#everything(found) : this.#rows(found, allOf(found))))
    if (typeof shape === 'boolean') return shape
    for (let round = 1; round < ROUNDS && this.#written.size > MOST_AT_END; round++)
      if ((await this.#round((found, written) => this.#rows(found, written))) === false) return false
    const done = await group.read(() => this.#end(shape, whole))
    await this.#sync()
    return done
  }

  /**
   * Runs `work` while the engine does not write to the file; `written` are the pages that the log had since the round
   * before. Returns the shape of the file; false: the log could not be emptied, true: the file is not one to scrub.
   */
  async #round(work: (shape: FileShape, written: readonly number[]) => Promise<void>): Promise<FileShape | boolean> {
    const { group, log } = this.#deps
    const begun = await group.read(() => this.#begin())
    if (typeof begun === 'boolean') return begun
    const { shape, keeper } = begun
    try {
      await work(shape, this.#takeWritten())
      await this.#sync()
    } finally {
      // Once nothing is kept, the engine may begin the log anew: what it holds is noted before.
      this.#note(shape)
      log.kept = false
      keeper.close()
    }
    return shape
  }

  #begin(): { readonly shape: FileShape; readonly keeper: SqliteConnection } | boolean {
    const { connection, log, reopen } = this.#deps
    const before = this.#shape()
    if (before === undefined) return log.truncate()
    // To open the database writes a page to the log: the log is emptied after that.
    const keeper = reopen()
    try {
      this.#note(before)
      const shape = log.truncate() && this.#shape()
      if (!shape) {
        keeper.close()
        return false
      }
      // A page in memory still has the old bytes, and a later commit would write them back.
      connection.exec('PRAGMA shrink_memory')
      keeper.exec('BEGIN')
      keeper.get('SELECT 1 FROM sqlite_schema LIMIT 1', [])
      log.kept = true
      return { shape, keeper }
    } catch (error) {
      keeper.close()
      throw error
    }
  }

  /** Notes the pages that are in the log. */
  #note({ pageSize }: FileShape): void {
    for (const no of this.#deps.log.pages(pageSize)) this.#written.add(no)
  }

  #takeWritten(): readonly number[] {
    const pages = [...this.#written]
    this.#written.clear()
    return pages
  }

  #shape(): FileShape | undefined {
    this.#file ??= openSync(this.#deps.path, constants.O_RDWR)
    return shapeOf(this.#read(0, 512), fstatSync(this.#file).size)
  }

  /** Scrubs, in one turn, the pages that were written meanwhile: they may come from pages that were in memory before. */
  #end(shape: FileShape, whole: boolean): boolean {
    const { connection, log } = this.#deps
    if (whole) connection.run(SET_SCRUBBED, [])
    this.#note(shape)
    if (!log.truncate()) return false
    connection.exec('PRAGMA shrink_memory')
    for (const no of this.#takeWritten()) this.#clearRows(shape, no)
    return true
  }

  /** Scrubs free pages and the ends of long texts too, once: since `secure_delete` these get no old bytes any more. */
  async #everything(shape: FileShape): Promise<void> {
    for (let list = shape.firstFree; list !== 0 && list <= shape.pages; ) {
      const { next, free } = freeListOf(shape, this.#page(shape, list))
      this.#clear(shape, list, [[8 + 4 * free.length, shape.usable]])
      for (const no of free) if (no <= shape.pages) this.#clear(shape, no, [[0, shape.pageSize]])
      await this.#pause()
      list = next
    }
    await this.#rows(shape, allOf(shape), (page, no) => {
      for (const { firstPage, bytes } of overflowsOf(shape, page, no)) this.#clearTail(shape, firstPage, bytes)
    })
  }

  #clearTail(shape: FileShape, firstPage: number, bytes: number): void {
    const { before, unused } = tailOf(shape, bytes)
    let no = firstPage
    for (let page = 0; page < before && no !== 0; page++) no = this.#read((no - 1) * shape.pageSize, 4).readUInt32BE(0)
    if (no !== 0 && no <= shape.pages) this.#clear(shape, no, [unused])
  }

  async #rows(
    shape: FileShape,
    pages: Iterable<number>,
    also: (page: Buffer, no: number) => void = () => {},
  ): Promise<void> {
    let left = PAGES_AT_ONCE
    for (const no of pages) {
      if (no > shape.pages) continue
      also(this.#clearRows(shape, no), no)
      if (--left > 0) continue
      left = PAGES_AT_ONCE
      await this.#pause()
    }
  }

  #clearRows(shape: FileShape, no: number): Buffer {
    const page = this.#page(shape, no)
    this.#clear(shape, no, unusedOf(shape, page, no), page)
    return page
  }

  #clear(shape: FileShape, no: number, ranges: readonly ByteRange[], page = this.#page(shape, no)): void {
    for (const [from, to] of ranges) {
      const bytes = page.subarray(from, to)
      if (bytes.equals(ZEROS.subarray(0, bytes.length))) continue
      bytes.fill(0)
      writeSync(this.#opened(), bytes, 0, bytes.length, (no - 1) * shape.pageSize + from)
    }
  }

  #page({ pageSize }: FileShape, no: number): Buffer {
    return this.#read((no - 1) * pageSize, pageSize)
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(this.#opened(), bytes, 0, length, at))
  }

  #opened(): number {
    if (this.#file === undefined) throw new ParleyError('internal', 'the database file is not open')
    return this.#file
  }

  async #sync(): Promise<void> {
    if (this.#file !== undefined) await promisify(fdatasync)(this.#file)
  }

  async #pause(): Promise<void> {
    await nextTurn()
    if (this.#stopped) throw new ParleyError('unavailable', 'the store is closed')
  }
}

const ZEROS = Buffer.alloc(65_536)

function* allOf({ pages }: FileShape): Generator<number> {
  for (let no = 1; no <= pages; no++) yield no
}
