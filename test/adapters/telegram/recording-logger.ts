import type { LogFields, Logger } from '../../../src/core/logger.ts'

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly sentence: string
  readonly fields: LogFields
}

/** Keeps every line. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = []
  debug = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'debug', sentence, fields })
  info = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'info', sentence, fields })
  warn = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'warn', sentence, fields })
  error = (sentence: string, fields: LogFields = {}): void => this.#add({ level: 'error', sentence, fields })
  child = (): Logger => this

  #add(line: LogLine): void {
    this.lines.push(line)
  }
}
