import { isatty } from 'node:tty'
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

interface ProcessSignals extends Pick<CliPorts, 'onSignal' | 'onHangup'> {
  /** Ends the process by SIGHUP if its terminal is gone: Node aborts as it puts that in order at its exit. */
  endWithTerminal(): void
}

/** Returns the signals of a process. A SIGHUP from a terminal means that it was closed; any other asks for a reload. */
export function signalsOf(host: NodeJS.Process): ProcessSignals {
  const terminals = [host.stdin, host.stdout, host.stderr].filter(({ isTTY }) => isTTY)
  return {
    onSignal(handler) {
      host.on('SIGINT', handler).on('SIGTERM', handler)
      if (host.stderr.isTTY) host.on('SIGHUP', handler)
      return () => host.off('SIGINT', handler).off('SIGTERM', handler).off('SIGHUP', handler)
    },
    onHangup(handler) {
      if (!host.stderr.isTTY) host.on('SIGHUP', handler)
      return () => host.off('SIGHUP', handler)
    },
    endWithTerminal() {
      if (terminals.some(({ fd }) => !isatty(fd))) host.kill(host.pid, 'SIGHUP')
    },
  }
}
