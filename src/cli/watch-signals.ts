import type { CliPorts } from './ports.ts'

export interface Signals {
  /** Resolves with the name of the first signal. */
  readonly first: Promise<string>
  readonly second: Promise<string>
  close(): void
}

export function watchSignals(onSignal: CliPorts['onSignal']): Signals {
  const waiting: ((signal: string) => void)[] = []
  const next = (): Promise<string> => new Promise((resolve) => waiting.push(resolve))
  const first = next()
  const second = next()
  const close = onSignal((signal) => waiting.shift()?.(signal))
  return { first, second, close }
}
