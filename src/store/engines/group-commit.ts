import { type Clock, sleep } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { BUSY_TIMEOUT_MS, type SqliteConnection } from './sqlite-connection.ts'
import { isBusy } from './sqlite-error.ts'
import type { SqliteTransaction } from './sqlite-transaction.ts'
import { type Job, TransactionGroup } from './transaction-group.ts'

/** Transactions of one COMMIT: keeps the event loop free within 50 ms also on a slow machine. */
const MAX_GROUP = 256
/** Pause between two tries for a lock that a foreign process holds, and how often: about 30 s. */
const BUSY_PAUSE_MS = 25
const BUSY_TRIES = 1_200

export interface GroupCommit {
  /** Resolves after the COMMIT with what `body` returned. */
  write<T>(body: (sql: SqliteTransaction) => Promise<T>): Promise<T>
  /** Runs `read` between two groups, so that it sees committed data only; at once where none is open. */
  read<T>(read: () => T): Promise<T>
  /** Refuses new work, and resolves once the accepted work is done. */
  drain(): Promise<void>
}

/**
 * Runs the transactions that arrive together one after another inside one BEGIN IMMEDIATE … COMMIT: one fsync for all
 * of them. SQLite answers at once, so a body that awaits nothing but its own transaction ends before the event loop
 * turns; a body that has not is waiting for something else and is given up, because the open transaction holds up
 * everybody. A transaction for each message would sync the disk for each (decision 0017).
 */
export function createGroupCommit(
  connection: SqliteConnection,
  clock: Clock,
  onBroken: (error: Error) => void = () => {},
): GroupCommit {
  let broken: Error | undefined
  const onceBroken = (error: Error): void => {
    if (broken) return
    broken = error
    onBroken(error)
  }
  /** Resolves when the open group, if there is one, has ended. */
  let open: Promise<void> | undefined
  let queue: Job[] = []
  /** The next group has those that run again. */
  let savepoints = false
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
      const again = await run(jobs)
      queue = [...again, ...queue]
      savepoints = again.length > 0
    } catch (error) {
      const jobs = queue
      queue = []
      for (const job of jobs) job.reject(error)
    }
    running = undefined
    if (queue.length > 0) start()
  }
  const run = async (jobs: readonly Job[]): Promise<readonly Job[]> => {
    let close = (): void => {}
    open = new Promise((resolve) => {
      close = resolve
    })
    const ended = await new TransactionGroup(connection, jobs, { savepoints, onBroken: onceBroken }).run()
    open = undefined
    close()
    ended.settle()
    return ended.again
  }
  const read = async <T>(action: () => T): Promise<T> => {
    while (open !== undefined) await open
    if (draining) throw closed()
    return action()
  }

  return {
    write<T>(body: (sql: SqliteTransaction) => Promise<T>): Promise<T> {
      if (draining) return Promise.reject(closed())
      if (broken) return Promise.reject(broken)
      return new Promise<T>((resolve, reject) => {
        queue.push({ body, resolve: resolve as (value: unknown) => void, reject })
        start()
      })
    },
    read,
    async drain(): Promise<void> {
      draining = true
      while (running !== undefined) await running
    },
  }
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

function closed(): ParleyError {
  return new ParleyError('unavailable', 'the store is closed')
}
