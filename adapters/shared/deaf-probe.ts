import { type Clock, sleep } from '../../src/core/clock.ts'

interface ProbePorts {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly everyMs: number
  /** Asks by another way than events come; true: the platform holds something that should have come. Rejects as it may. */
  probe(signal: AbortSignal): Promise<boolean>
  /** Called once for each time the account is found deaf. */
  deaf(): void
}

/** Findings in a row; one alone may be something that is just on its way. */
const FINDINGS = 2

/**
 * Asks every so often, one question at a time, whether an account that looks well is deaf, and says so when two answers
 * in a row show it. A question without an answer shows nothing. Resolves when `signal` aborts; never rejects.
 */
export async function probeForDeafness({ clock, signal, everyMs, probe, deaf }: ProbePorts): Promise<void> {
  for (let found = 0; !signal.aborted; ) {
    await sleep(clock, everyMs, signal)
    if (signal.aborted) return
    const isDeaf = await probe(signal).catch(() => false)
    found = isDeaf ? found + 1 : 0
    if (found === FINDINGS && !signal.aborted) deaf()
  }
}
