import { type Clock, sleep } from '../../core/clock.ts'
import type { TurnId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Store } from '../../store/store.ts'
import type { StartedTurn } from './started-turn.ts'

/** A turn that was under way at this many crashes is a suspect. One crash alone meets whatever happens to run. */
const SUSPECT_ATTEMPTS = 2
/**
 * A suspect that crashed the process twice more, each time alone and after a quiet time that passed, is quarantined.
 */
export const MOST_ATTEMPTS = 4

/** The factor by which the process has to live without a suspect longer than the last crash took to come. */
const QUIET_TIMES = 3
const LEAST_QUIET_MS = 5_000
const MOST_QUIET_MS = 120_000

/** A turn that a dead process left running. */
export interface Interrupted {
  readonly turn: StartedTurn
  /** The crashes that are counted against it. */
  readonly attempt: number
}

export function isSuspect({ attempt }: Pick<Interrupted, 'attempt'>): boolean {
  return attempt >= SUSPECT_ATTEMPTS
}

/**
 * Returns the time for which a start leaves interrupted turns alone, when the last of its suspects resumed `ageMs` ago.
 */
export function quietTime(ageMs: number): number {
  return Math.min(Math.max(ageMs * QUIET_TIMES, LEAST_QUIET_MS), MOST_QUIET_MS)
}

interface QuietDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  draining(): boolean
}

/** A time in which the process has to prove that it lives without the turns it left running. */
export interface QuietTime {
  readonly ms: number
  /** Resolves when the time has passed and the counts against the turns apply again. Never rejects. */
  readonly passed: Promise<void>
}

/**
 * Begins the quiet time. While it lasts nothing is counted against these turns: if the process dies in it, the cause is
 * something else, and the next start considers them innocent.
 */
export async function beginQuietTime(interrupted: readonly Interrupted[], deps: QuietDeps): Promise<QuietTime> {
  const { store, clock, logger, draining } = deps
  const ages = await Promise.all(interrupted.filter(isSuspect).map(({ turn }) => ageOf(turn, deps)))
  const ms = quietTime(Math.min(...ages))
  await store.write(async (tx) => {
    for (const { turn } of interrupted) await tx.turns.recount(turn.id, 0)
  })
  logger.warn('Turns that were under way at several crashes wait until the process has lived without them', {
    turnIds: interrupted.map(({ turn }) => turn.id),
    ms,
  })
  async function pass(): Promise<void> {
    await sleep(clock, ms)
    if (draining()) return
    try {
      await store.write(async (tx) => {
        for (const { turn, attempt } of interrupted) await tx.turns.recount(turn.id, attempt)
      })
    } catch (err) {
      logger.error('What is counted against interrupted turns could not be stored', { err })
    }
  }
  return { ms, passed: pass() }
}

/** Resolves when a suspect has run alone for the quiet time; it is trusted again from then on. Never rejects. */
export async function outlivesSuspicion(id: TurnId, ms: number, deps: QuietDeps): Promise<void> {
  const { store, clock, logger, draining } = deps
  await sleep(clock, ms)
  if (draining()) return
  try {
    await store.write((tx) => tx.turns.recount(id, 1))
  } catch (err) {
    logger.error('What is counted against a turn could not be taken off', { err, turnId: id })
  }
}

/** Returns the age of a turn's last claim or resumption, downtime of the daemon included. */
async function ageOf({ session, startedAt }: StartedTurn, { store, clock }: QuietDeps): Promise<number> {
  const [last] = await store.read.events.latestOf(session.id, ['turn_started', 'turn_resumed'], 1)
  return Math.max(0, clock.now() - (last?.at ?? startedAt))
}
