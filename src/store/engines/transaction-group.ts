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

export interface GroupOptions {
  /** Each body has a savepoint: one that fails is undone alone. */
  readonly savepoints: boolean
  onBroken(this: void, error: Error): void
}

/** The end of a group. */
export interface EndedGroup {
  /** Answers whoever waits for a body of which something came. */
  settle(this: void): void
  /** Those of which nothing came: they run again. */
  readonly again: readonly Job[]
}

/**
 * The transactions of one BEGIN … COMMIT, run one after another. A body that fails loses its own writes only: when one
 * fails that has written, everything is rolled back, and the other bodies run again in another group, each in a
 * savepoint (decision 0018). Savepoints from the start would cost 6 % of the processor time of an echo.
 *
 * Whichever comes first, the end of a body or a turn of the event loop, starts the next: a loop that awaits each body
 * and its watch takes 5,300 message cycles a second in the store bench, this one 7,100.
 */
export class TransactionGroup {
  readonly #connection: SqliteConnection
  readonly #onBroken: (error: Error) => void
  /** Those to run, in order. */
  readonly #jobs: readonly Job[]
  /** Those of them that have begun. */
  readonly #runs: Run[] = []
  readonly #savepoints: boolean
  #resolve: (ended: EndedGroup) => void = () => {}
  #watch: NodeJS.Immediate | undefined

  /** `onBroken` is called for a write the disk did not confirm, before anybody is answered (F-F03). */
  constructor(connection: SqliteConnection, jobs: readonly Job[], { savepoints, onBroken }: GroupOptions) {
    this.#connection = connection
    this.#jobs = jobs
    this.#savepoints = savepoints
    this.#onBroken = onBroken
  }

  /** Runs and commits; BEGIN has been done. Never rejects. */
  run(): Promise<EndedGroup> {
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
      if (!outcome.ok && !this.#undo(run)) return
      if (outcome.ok && this.#savepoints) this.#connection.run('RELEASE body', [])
    } catch (error) {
      this.#lose(error)
      return
    }
    this.#next()
  }

  /** Returns false if that was the end of the group. */
  #undo({ transaction, before }: Run): boolean {
    const wrote = this.#connection.writes > before
    if (wrote && !this.#savepoints) {
      this.#undoAll()
      return false
    }
    if (wrote) this.#connection.run('ROLLBACK TO body', [])
    if (this.#savepoints) this.#connection.run('RELEASE body', [])
    transaction.undone()
    return true
  }

  /** Undoes every body; those that did not fail are to run again. */
  #undoAll(): void {
    this.#connection.run('ROLLBACK', [])
    for (const { transaction } of this.#runs.toReversed()) transaction.undone()
    const failed = this.#runs.filter(({ outcome }) => outcome?.ok === false)
    const jobs = new Set(failed.map(({ job }) => job))
    this.#close({
      settle: () => {
        for (const run of failed) settle(run)
      },
      again: this.#jobs.filter((job) => !jobs.has(job)),
    })
  }

  /** The event loop has turned and a body has not ended: it waits for something else. */
  readonly #giveUp = (): void => {
    this.#watch = setImmediate(this.#giveUp)
    const run = this.#runs.at(-1)
    if (run !== undefined) this.#ended(run, { ok: false, error: foreignAwait() })
  }

  #commit(): void {
    this.#connection.run('COMMIT', [])
    this.#closeWith(() => {
      for (const run of this.#runs) settle(run)
    })
  }

  /** None of it holds. */
  #lose(error: unknown): void {
    if (errorCode(error) === 'store_broken') this.#onBroken(toError(error))
    this.#rollBack()
    for (const { transaction } of this.#runs.toReversed()) transaction.undone()
    this.#closeWith(() => {
      for (const job of this.#jobs) job.reject(error)
    })
  }

  /** On a disk that fails this may fail too; the error to report is the first. */
  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK', [])
    } catch {}
  }

  #closeWith(settle: () => void): void {
    this.#close({ settle, again: [] })
  }

  #close(ended: EndedGroup): void {
    clearImmediate(this.#watch)
    this.#resolve(ended)
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
