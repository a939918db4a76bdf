import { errorCode, ParleyError, toError } from '../../core/errors.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { SqliteTransaction, type Written } from './sqlite-transaction.ts'

/** A transaction somebody waits for. */
export interface Job {
  readonly body: (sql: SqliteTransaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }

/** A job and what became of it. */
interface Run {
  readonly job: Job
  readonly transaction: SqliteTransaction
  /** The number of statements that were kept before it. */
  readonly before: number
  readonly inSavepoint: boolean
  outcome: Outcome | undefined
}

/**
 * The transactions of one BEGIN … COMMIT, run one after another. A body that fails loses its own writes only: the first
 * of a group by a rollback of all and a repetition of what the bodies before it wrote, the others by a savepoint, which
 * from then on each body has (decision 0007). A body is watched without a promise of its own: whichever comes first,
 * its end or a turn of the event loop, starts the next.
 */
export class TransactionGroup {
  readonly #connection: SqliteConnection
  readonly #jobs: readonly Job[]
  readonly #onBroken: (error: Error) => void
  readonly #runs: Run[] = []
  readonly #written: Written[] = []
  #savepoints = false
  #resolve: (settle: () => void) => void = () => {}
  #watch: NodeJS.Immediate | undefined

  /** `onBroken` is called for a write the disk did not confirm, before anybody else hears of it (F-F03). */
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
    const inSavepoint = this.#savepoints
    if (inSavepoint) this.#connection.run('SAVEPOINT body', [])
    const last = this.#runs.length === this.#jobs.length - 1
    // Nobody behind it can have it repeated: what an import writes is not kept.
    const transaction = new SqliteTransaction(this.#connection, inSavepoint || last ? undefined : this.#written)
    const run: Run = { job, transaction, before: this.#written.length, inSavepoint, outcome: undefined }
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
      if (run.inSavepoint) this.#connection.run('RELEASE body', [])
    } catch (error) {
      this.#lose(error)
      return
    }
    this.#next()
  }

  #undo({ before, inSavepoint, transaction }: Run): void {
    if (transaction.wrote) {
      this.#written.length = before
      if (inSavepoint) this.#connection.run('ROLLBACK TO body', [])
      else this.#repeat()
    }
    transaction.undone()
  }

  /** The same statements upon the same rows write the same again. Who takes the lock in between has the group fail. */
  #repeat(): void {
    this.#savepoints = true
    const version = this.#version()
    this.#connection.run('ROLLBACK', [])
    this.#connection.run('BEGIN IMMEDIATE', [])
    if (this.#version() !== version) throw overtaken()
    for (const { by, text, params } of this.#written) this.#connection[by](text, params)
  }

  /** Another number once somebody else has committed. */
  #version(): unknown {
    return this.#connection.get('PRAGMA data_version', [])?.data_version
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
      for (const run of this.#runs) settle(run)
    })
  }

  /** None of it holds. */
  #lose(error: unknown): void {
    if (errorCode(error) === 'store_broken') this.#onBroken(toError(error))
    this.#rollBack()
    for (const { transaction } of this.#runs.toReversed()) transaction.undone()
    this.#close(() => {
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

function overtaken(): ParleyError {
  return new ParleyError('unavailable', 'another program wrote to the database meanwhile')
}

function lostGroup(outcome: Outcome): unknown {
  if (!outcome.ok) return toError(outcome.error)
  return new ParleyError('unavailable', 'the database gave up this transaction')
}
