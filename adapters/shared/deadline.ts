import type { Clock } from '../../src/core/clock.ts'

/** Limits the time of a call, by a deadline and a signal. */
export interface Limits {
  /** The whole call, from the first byte out to the last byte in, ms. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** One call that always ends in a value. */
export interface LimitedCall<T> {
  /** Begins the call; never rejects. */
  begin(): Promise<T>
  /** Ends the call. Called once at most, when nobody waits for it any more. */
  cut(): void
  /** Returns what the call ended in when it was given up; `why` is a few words, such as `no answer within 15 s`. */
  givenUp(why: string): T
  /** Returns true if the call left something that must be cut, such as an answer that was not read to its end. */
  spoiled(value: T): boolean
}

/**
 * Runs a call until it ends, its deadline passes or the signal aborts; then it is cut and not waited for. Never
 * rejects, and leaves neither timer nor listener behind. The deadline is a timer and no time of day: a clock that is
 * set ends no call.
 */
export function underDeadline<T>(clock: Clock, { deadlineMs, signal }: Limits, call: LimitedCall<T>): Promise<T> {
  if (signal.aborted) return Promise.resolve(call.givenUp(STOPPED))
  return new Promise((resolve) => {
    let ended = false
    const end = (value: T, spoiled: boolean): void => {
      ended = true
      cancelTimer()
      forget()
      if (spoiled) call.cut()
      resolve(value)
    }
    const giveUp = (why: string): void => {
      if (!ended) end(call.givenUp(why), true)
    }
    const forget = onAbort(signal, () => giveUp(STOPPED))
    const cancelTimer = clock.after(deadlineMs, () => giveUp(`no answer within ${deadlineMs / 1000} s`))
    void call.begin().then((value) => {
      if (!ended) end(value, call.spoiled(value))
    })
  })
}

const STOPPED = 'stopped'

/**
 * Returns a controller that aborts with `signal` and can be aborted alone, which takes its listener off `signal` again.
 */
export function linkedAbort(signal: AbortSignal): AbortController {
  const abort = new AbortController()
  if (signal.aborted) abort.abort()
  else
    abort.signal.addEventListener(
      'abort',
      onAbort(signal, () => abort.abort()),
      { once: true },
    )
  return abort
}

interface Crowd {
  readonly listener: () => void
  readonly callbacks: Set<() => void>
}

/**
 * One listener of a signal for all who wait for it: one signal ends many calls, and each listener more costs a search.
 */
const crowds = new WeakMap<AbortSignal, Crowd>()

/** Calls `callback` once when `signal` aborts, or at once if it has; the returned function takes it back. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, listener } = crowds.get(signal) ?? gather(signal)
  // Wrapped, for the same function may wait twice.
  const once = (): void => callback()
  callbacks.add(once)
  return () => {
    if (!callbacks.delete(once) || callbacks.size > 0) return
    signal.removeEventListener('abort', listener)
    if (crowds.get(signal)?.callbacks === callbacks) crowds.delete(signal)
  }
}

function gather(signal: AbortSignal): Crowd {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    crowds.delete(signal)
    const called = [...callbacks]
    callbacks.clear()
    for (const callback of called) callback()
  }
  const crowd = { callbacks, listener }
  crowds.set(signal, crowd)
  signal.addEventListener('abort', listener, { once: true })
  return crowd
}
