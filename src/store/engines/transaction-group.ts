import { errorCode, ParleyError, toError } from '../../core/errors.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'

/** A transaction somebody waits for. */
export interface Job {
  readonly body: (sql: SqliteTransaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const OF_THE_STORE: ReadonlySet<unknown> = new Set(['unavailable', 'store_broken'])

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }

/** A job and what became of it. */
interface Run {
  readonly job: Job
  readonly transaction: SqliteTransaction
  /** The connection's count of writes before it. */
  readonly before: number
  outcome: Outcome | undefined
}

/**
 * The transactions of one BEGIN … COMMIT, run one after another. A body that fails loses its own writes only: when one
 * fails that has written, everything is rolled back and the other bodies run again, each in a savepoint (decision
 * 0018). Savepoints from the start would cost 6 % of the processor time of an echo.
 *
 * Whichever comes first, the end of a body or a turn of the event loop, starts the next: a loop that awaits each body
 * and its watch takes 5,300 message cycles a second in the store bench, this one 7,100.
 */
export class TransactionGroup {
  readonly #connection: SqliteConnection
  readonly #onBroken: (error: Error) => void
  /** Those to run, in order. */
  #jobs: readonly Job[]
  /** Those of them that have begun. */
  #runs: Run[] = []
  /** Those that failed before everything was run again. */
  #failed: readonly Run[] = []
  #savepoints = false
  #resolve: (settle: () => void) => void = () => {}
  #watch: NodeJS.Immediate | undefined

  /** `onBroken` is called for a write the disk did not confirm, before anybody is answered (F-F03). */
  constructor(connection: SqliteConnection, jobs: readonly Job[], onBroken: (error: Error) => void) {
    this.#connection = connection
    this.#jobs = jobs
    this.#onBroken = onBroken
  }

  /** Runs and commits; BEGIN has been done. Resolves with the function that settles every body; never rejects. */
  run(): Promise<() => void> {
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#watch = setImmediate(this.#giveUp)
      this.#next()
    })
  }

  #next(): void {
    try {
      const job = this.#jobs[this.#runs.length]
      if (job === undefined) this.#commit()
      else this.#start(job)
    } catch (error) {
      this.#lose(error)
    }
  }

  #start(job: Job): void {
    if (this.#savepoints) this.#connection.run('SAVEPOINT body', [])
    const before = this.#connection.writes
    const run: Run = { job, transaction: new SqliteTransaction(this.#connection), before, outcome: undefined }
    this.#runs.push(run)
    started(run).then(
      (value) => this.#ended(run, { ok: true, value }),
      (error: unknown) => this.#ended(run, { ok: false, error }),
    )
  }

  /** A body that was given up may end later: nobody asks any more. */
  #ended(run: Run, outcome: Outcome): void {
    if (run.outcome !== undefined) return
    run.outcome = outcome
    run.transaction.end()
    try {
      if (!this.#connection.inTransaction) throw lostGroup(outcome)
      if (!outcome.ok) this.#undo(run)
      else if (this.#savepoints) this.#connection.run('RELEASE body', [])
    } catch (error) {
      this.#lose(error)
      return
    }
    this.#next()
  }

  #undo({ transaction, before }: Run): void {
    const wrote = this.#connection.writes > before
    if (wrote && !this.#savepoints) {
      this.#runAgain()
      return
    }
    if (wrote) this.#connection.run('ROLLBACK TO body', [])
    if (this.#savepoints) this.#connection.run('RELEASE body', [])
    transaction.undone()
  }

  /** Undoes every body and begins anew without those that failed. */
  #runAgain(): void {
    this.#connection.run('ROLLBACK', [])
    for (const { transaction } of this.#runs.toReversed()) transaction.undone()
    this.#failed = this.#runs.filter(({ outcome }) => outcome?.ok === false)
    const failed = new Set(this.#failed.map(({ job }) => job))
    this.#jobs = this.#jobs.filter((job) => !failed.has(job))
    this.#runs = []
    this.#savepoints = true
    this.#connection.run('BEGIN IMMEDIATE', [])
  }

  /** The event loop has turned and a body has not ended: it waits for something else. */
  readonly #giveUp = (): void => {
    this.#watch = setImmediate(this.#giveUp)
    const run = this.#runs.at(-1)
    if (run !== undefined) this.#ended(run, { ok: false, error: foreignAwait() })
  }

  #commit(): void {
    this.#connection.run('COMMIT', [])
    this.#close(() => {
      for (const run of [...this.#failed, ...this.#runs]) settle(run)
    })
  }

  /** None of it holds. */
  #lose(error: unknown): void {
    if (errorCode(error) === 'store_broken') this.#onBroken(toError(error))
    this.#rollBack()
    for (const { transaction } of this.#runs.toReversed()) transaction.undone()
    this.#close(() => {
      for (const { job } of this.#failed) job.reject(error)
      for (const job of this.#jobs) job.reject(error)
    })
  }

  /** On a disk that fails this may fail too; the error to report is the first. */
  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK', [])
    } catch {}
  }

  #close(settle: () => void): void {
    clearImmediate(this.#watch)
    this.#resolve(settle)
  }
}

/** A body that throws before its first await rejects like any other. */
function started({ job, transaction }: Run): Promise<unknown> {
  try {
    return job.body(transaction)
  } catch (error) {
    return Promise.reject(error)
  }
}

function settle({ job, transaction, outcome }: Run): void {
  if (!outcome?.ok) {
    job.reject(outcome?.error)
    return
  }
  try {
    transaction.committed()
    job.resolve(outcome.value)
  } catch (error) {
    job.reject(error)
  }
}

function foreignAwait(): ParleyError {
  return new ParleyError(
    'internal',
    'a transaction awaited something other than its own statements; its writes were undone',
  )
}

/** An error of the store is everybody's; what a body made of it, in its own words, says nothing to the others. */
function lostGroup(outcome: Outcome): unknown {
  if (!outcome.ok && OF_THE_STORE.has(errorCode(outcome.error))) return outcome.error
  const cause = outcome.ok ? undefined : { cause: outcome.error }
  return new ParleyError('unavailable', 'the database gave up this transaction', cause)
}
