import type { LogFields, Logger } from '../../../src/core/logger.ts'

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly sentence: string
  readonly fields: LogFields
}

/** Keeps every line, and wakes whoever waits for something that a line tells of, such as a change of health. */
export class WatchedLog implements Logger {
  readonly lines: LogLine[] = []
  readonly #waiting = new Set<() => void>()
  debug = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'debug', sentence, fields })
  info = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'info', sentence, fields })
  warn = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'warn', sentence, fields })
  error = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'error', sentence, fields })
  child = (): Logger => this

  /** Resolves once `ready` holds; looked at now and at each line. */
  async until(ready: () => boolean): Promise<void> {
    while (!ready()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
  }

  #add(line: LogLine): void {
    this.lines.push(line)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
