import { type Clock, sleep } from '../../core/clock.ts'
import { errorCode, ParleyError, toError } from '../../core/errors.ts'
import type { Sql } from '../sql.ts'
import { BUSY_TIMEOUT_MS, type SqliteConnection } from './sqlite-connection.ts'
import { isBusy } from './sqlite-error.ts'
import { sqliteTransaction } from './sqlite-transaction.ts'

/** Transactions of one COMMIT: keeps the event loop free within 50 ms also on a slow machine. */
const MAX_GROUP = 256
/** Pause between two tries for a lock that a foreign process holds, and how often: about 30 s. */
const BUSY_PAUSE_MS = 25
const BUSY_TRIES = 1_200

export interface GroupCommit {
  /** Resolves after the COMMIT with what `body` returned. */
  write<T>(body: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs `read` between two groups, so that it sees committed data only. */
  read<T>(read: () => T): Promise<T>
  /** Refuses new work, and resolves once the accepted work is done. */
  drain(): Promise<void>
}

interface Job {
  readonly body: (sql: Sql) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface GroupEvents {
  /** Called whenever writes of a body were rolled back: what was made of them in memory does not hold. */
  undone(): void
  /** Told once of a write the disk did not confirm, before anybody else is; from then on every write is refused (F03). */
  onBroken(error: Error): void
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }

/**
 * Runs the transactions that arrive together one after another inside one BEGIN IMMEDIATE … COMMIT, each in its own
 * savepoint: one fsync for all of them. SQLite answers at once, so a body that awaits nothing but its own transaction
 * ends before the event loop turns; a body that has not is waiting for something else and is given up, because the open
 * transaction holds up everybody.
 */
export function createGroupCommit(
  connection: SqliteConnection,
  clock: Clock,
  told: Partial<GroupEvents> = {},
): GroupCommit {
  let broken: Error | undefined
  const { undone = () => {}, onBroken = () => {} } = told
  const onceBroken = (error: Error): void => {
    if (broken) return
    broken = error
    onBroken(error)
  }
  const group = new Group(connection, { undone, onBroken: onceBroken })
  let queue: Job[] = []
  let running: Promise<void> | undefined
  let draining = false

  const start = (): void => {
    // The check phase follows the poll phase: what one turn of the event loop received goes into one group.
    running ??= new Promise((resolve) => setImmediate(resolve)).then(runAll)
  }
  const runAll = async (): Promise<void> => {
    try {
      if (broken) throw broken
      await begin(connection, clock)
      const jobs = queue.slice(0, MAX_GROUP)
      queue = queue.slice(MAX_GROUP)
      await group.run(jobs)
    } catch (error) {
      const jobs = queue
      queue = []
      for (const job of jobs) job.reject(error)
    }
    running = undefined
    if (queue.length > 0) start()
  }

  return {
    write<T>(body: (sql: Sql) => Promise<T>): Promise<T> {
      if (draining) return Promise.reject(closed())
      if (broken) return Promise.reject(broken)
      return new Promise<T>((resolve, reject) => {
        queue.push({ body, resolve: resolve as (value: unknown) => void, reject })
        start()
      })
    },
    async read<T>(read: () => T): Promise<T> {
      while (group.open) await group.closed
      return read()
    },
    async drain(): Promise<void> {
      draining = true
      while (running !== undefined) await running
    },
  }
}

/** One open BEGIN … COMMIT at a time. */
class Group {
  open = false
  /** Resolves when the open group has ended. */
  closed: Promise<void> = Promise.resolve()
  readonly #connection: SqliteConnection
  readonly #told: GroupEvents
  #giveUp: () => void = () => {}

  constructor(connection: SqliteConnection, told: GroupEvents) {
    this.#connection = connection
    this.#told = told
  }

  /** Runs and commits `jobs`; BEGIN has been done. Never throws. */
  async run(jobs: readonly Job[]): Promise<void> {
    let close = (): void => {}
    this.open = true
    this.closed = new Promise((resolve) => {
      close = resolve
    })
    const settle = await this.#runAndCommit(jobs)
    this.open = false
    close()
    settle()
  }

  async #runAndCommit(jobs: readonly Job[]): Promise<() => void> {
    const outcomes: Outcome[] = []
    const watch = watchBodies(() => this.#giveUp())
    try {
      for (const job of jobs) {
        const outcome = await this.#runOne(job)
        outcomes.push(outcome)
      }
      this.#connection.run('COMMIT', [])
    } catch (error) {
      if (errorCode(error) === 'store_broken') this.#told.onBroken(toError(error))
      this.#rollBack()
      this.#told.undone()
      return () => {
        for (const job of jobs) job.reject(error)
      }
    } finally {
      watch.end()
    }
    return () => {
      for (const [index, job] of jobs.entries()) settleJob(job, outcomes[index])
    }
  }

  /** On a disk that fails this may fail too; the error to tell is the first. */
  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK', [])
    } catch {}
  }

  /** One body in its savepoint. Throws only if the whole group is lost. */
  async #runOne(job: Job): Promise<Outcome> {
    this.#connection.run('SAVEPOINT body', [])
    const transaction = sqliteTransaction(this.#connection)
    const outcome = await this.#settledByItself(() => job.body(transaction))
    transaction.end()
    if (!this.#connection.inTransaction) throw lostGroup(outcome)
    if (!outcome.ok) {
      this.#connection.run('ROLLBACK TO body', [])
      this.#told.undone()
    }
    this.#connection.run('RELEASE body', [])
    return outcome
  }

  /** The outcome of a body, or an error if it has not ended when nothing is left to do but to wait. */
  #settledByItself(body: () => Promise<unknown>): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#giveUp = () => resolve({ ok: false, error: foreignAwait() })
      startBody(body).then(
        (value) => resolve({ ok: true, value }),
        (error: unknown) => resolve({ ok: false, error }),
      )
    })
  }
}

/** Calls `waits` whenever the event loop turns before the group has ended: then a body waits for something else. */
function watchBodies(waits: () => void): { end(): void } {
  const look = (): void => {
    waits()
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  return { end: () => clearImmediate(next) }
}

/** A body that throws before its first await rejects like any other. */
async function startBody(body: () => Promise<unknown>): Promise<unknown> {
  return body()
}

function settleJob(job: Job, outcome: Outcome | undefined): void {
  if (outcome?.ok) job.resolve(outcome.value)
  else job.reject(outcome?.error)
}

/** Takes the write lock. The first try may wait in the engine, the others only look, so that the loop stays free. */
async function begin(connection: SqliteConnection, clock: Clock): Promise<void> {
  if (tryBegin(connection)) return
  connection.exec('PRAGMA busy_timeout = 0')
  try {
    for (let tries = 1; ; tries++) {
      await sleep(clock, BUSY_PAUSE_MS)
      if (tryBegin(connection, tries >= BUSY_TRIES)) return
    }
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function tryBegin(connection: SqliteConnection, last = false): boolean {
  try {
    connection.run('BEGIN IMMEDIATE', [])
    return true
  } catch (error) {
    if (last || !isBusy(error)) throw error
    return false
  }
}

function foreignAwait(): ParleyError {
  return new ParleyError(
    'internal',
    'a transaction awaited something other than its own statements; its writes were undone',
  )
}

function lostGroup(outcome: Outcome): unknown {
  if (!outcome.ok) return toError(outcome.error)
  return new ParleyError('unavailable', 'the database gave up this transaction')
}

function closed(): ParleyError {
  return new ParleyError('unavailable', 'the store is closed')
}
