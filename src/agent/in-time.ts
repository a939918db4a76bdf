import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'

/** The time in which something is to be done with a model. */
interface TimeLimit {
  readonly clock: Clock
  readonly ms: number
  /** The work, as an error calls it. */
  readonly what: string
  /** Aborts when nobody wants it any more. */
  readonly signal: AbortSignal
}

/**
 * Does `work` with a signal that also aborts after so long. Throws `model_stalled` where it does: a provider that sends
 * a byte now and then is never idle, and would be waited for without end.
 */
export async function inTime<Result>(
  { clock, ms, what, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController()
  const cancel = clock.after(ms, () => late.abort())
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } catch (cause) {
    if (signal.aborted || !late.signal.aborted) throw cause
    throw new ParleyError('model_stalled', `${what} took more than ${ms / 1_000} s.`, { cause })
  } finally {
    cancel()
  }
}
