import { type Clock, sleep } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { forgetBefore } from '../people/record-refusal.ts'
import { purgeLeftovers } from './delete-session.ts'
import { KEY_MS } from './keyed-requests.ts'

export interface AgeOutDeps {
  readonly store: Store
  readonly clock: Clock
  /** Returns the time to age by, see `loadAgeingTime`. */
  readonly ageingTime: () => number
  readonly logger: Logger
  /** Deletes the files that nothing names any more. */
  sweepMedia(): Promise<number>
  /** The days for which rows without a session are kept: at least as long as a platform may repeat a message. */
  readonly keepDays: number | undefined
  /** Applies the age limits of conversations. */
  retain(): Promise<void>
  /** Called every hour too: each continues what has failed before. */
  readonly again: readonly (() => Promise<void>)[]
  /** Returns true once the daemon is being stopped: nothing further begins. */
  stopping(): boolean
}

/** The default of `store.keepRefusedDays`. */
const DEFAULT_KEEP_DAYS = 30

const DAY_MS = 86_400_000
/** The age of notices that are deleted; none of them has to be remembered for longer than a day. */
const NOTICES_MS = 2 * DAY_MS
/** The interval at which the log of the store is checked, which is emptied once nobody writes. */
const LOOK_MS = 12_000
/** By this age nobody asks any more when an answer was sent; its text stays in the log of its session. */
const ANSWERS_MS = 90 * DAY_MS
/** The age of sums of what was spent, after the end of their day or month. */
const BUDGETS_MS = 60 * DAY_MS
const FIRST_MS = 60_000
const EVERY_MS = 3_600_000
/** The rows deleted in one transaction: some milliseconds. */
const BATCH = 100
/** A pause between two transactions, in which others can use the store. */
const PAUSE_MS = 50

/**
 * Returns the time of day for ageing, in whole ms; called before anything is written. It is no later than the newest
 * record, or than now where there is none, plus the running time of this process: a clock that is years ahead at one
 * start, or set ahead later, makes nothing recent old, and after a long stop things age from where they were.
 */
export async function loadAgeingTime({ store, clock }: Pick<AgeOutDeps, 'store' | 'clock'>): Promise<() => number> {
  const newest = (await store.read.ageing.newest()) ?? clock.now()
  const began = clock.elapsed()
  return () => Math.min(clock.now(), newest + Math.floor(clock.elapsed() - began))
}

/** Purges, in the background, what an earlier process left of deleted sessions, and deletes old rows. */
export function startCleaning(deps: AgeOutDeps): void {
  purgeLeftovers(deps.store, deps.stopping).catch((err: unknown) =>
    deps.logger.warn('Deleted sessions could not be purged; the next start goes on', { err }),
  )
  startAgeing(deps)
  emptyLogs(deps)
}

/** Empties the log in quiet times, so that it delays nobody. */
function emptyLogs({
  store,
  clock,
  logger,
  stopping,
}: Pick<AgeOutDeps, 'store' | 'clock' | 'logger' | 'stopping'>): void {
  clock.after(LOOK_MS, () => {
    if (stopping()) return
    store
      .emptyLog()
      .catch((err: unknown) => {
        if (!stopping()) logger.warn('The log of the store could not be emptied and will be looked at again', { err })
      })
      .finally(() => emptyLogs({ store, clock, logger, stopping }))
  })
}

/**
 * Deletes old rows that belong to no session, a minute after the start and every hour: messages that were refused or
 * ignored, commands and their answers, notices, expired mutes, and applicants nobody decided about. Small transactions
 * with pauses let others in between. Rows of a session stay with it.
 */
function startAgeing(deps: AgeOutDeps): void {
  const warn = (line: string) => (err: unknown) => {
    if (!deps.stopping()) deps.logger.warn(line, { err })
  }
  const again = (ms: number): void => {
    deps.clock.after(ms, () => {
      if (deps.stopping()) return
      ageOut(deps)
        .then(() => deps.retain())
        .catch(warn('Old records could not be deleted; they are in an hour'))
        .then(() => tryAgain(deps))
        .catch(warn('What failed before could not be begun; it is tried again in an hour'))
        .finally(() => again(EVERY_MS))
    })
  }
  again(FIRST_MS)
}

/** Begins what failed before and may succeed now. */
async function tryAgain({ again, stopping }: Pick<AgeOutDeps, 'again' | 'stopping'>): Promise<void> {
  for (const one of again) if (!stopping()) await one()
}

/** Runs one round; resolves when nothing old is left and the space is given back. */
export async function ageOut({
  store,
  clock,
  ageingTime,
  keepDays = DEFAULT_KEEP_DAYS,
  stopping,
  sweepMedia,
}: Omit<AgeOutDeps, 'retain' | 'again'>): Promise<void> {
  const now = ageingTime()
  const before = now - keepDays * DAY_MS
  const kinds: readonly ((tx: StoreWriter) => Promise<number>)[] = [
    (tx) => forgetBefore(tx, before),
    (tx) => tx.ageing.messages(before, BATCH),
    (tx) => tx.ageing.deliveries(before, BATCH),
    (tx) => tx.ageing.answers(now - ANSWERS_MS, BATCH),
    (tx) => tx.ageing.notices(now - NOTICES_MS, BATCH),
    (tx) => tx.ageing.mutes(before, BATCH),
    (tx) => tx.keyedRequests.sweep(now - KEY_MS, BATCH),
    (tx) => tx.budgets.sweep(now - BUDGETS_MS, BATCH),
    (tx) => tx.turns.sweepBeside(now - BUDGETS_MS, BATCH),
  ]
  for (const deleteSome of kinds) {
    while (!stopping() && (await store.write(deleteSome)) > 0) await sleep(clock, PAUSE_MS)
  }
  if (!stopping()) await sweepMedia()
  while (!stopping() && (await store.shrink()) > 0) await sleep(clock, PAUSE_MS)
}
