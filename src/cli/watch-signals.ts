import type { CliPorts } from './ports.ts'

export interface Signals {
  /** Resolves with the name of the first signal. */
  readonly first: Promise<string>
  readonly second: Promise<string>
  close(): void
}

export interface Hangups {
  /** Calls `handler` at each SIGHUP from now on, and at once if there was one before. */
  handle(handler: () => void): void
  close(): void
}

/** Keeps a SIGHUP that comes before the daemon can reload: by itself it would end the process. */
export function watchHangups(onHangup: CliPorts['onHangup']): Hangups {
  let current: (() => void) | undefined
  let missed = false
  const close = onHangup(() => {
    if (current) current()
    else missed = true
  })
  return {
    close,
    handle(handler) {
      current = handler
      if (missed) handler()
    },
  }
}

export function watchSignals(onSignal: CliPorts['onSignal']): Signals {
  const waiting: ((signal: string) => void)[] = []
  const next = (): Promise<string> => new Promise((resolve) => waiting.push(resolve))
  const first = next()
  const second = next()
  const close = onSignal((signal) => waiting.shift()?.(signal))
  return { first, second, close }
}
