import type { LogFields, Logger } from '../../src/core/logger.ts'

export interface AwaitedLine {
  readonly sentence: string
  readonly fields: LogFields
}

/** Keeps every line, and can be waited for. */
export class AwaitedLog implements Logger {
  readonly lines: AwaitedLine[] = []
  #waiting: { readonly sentence: string; resolve(line: AwaitedLine): void }[] = []
  debug = (sentence: string, fields: LogFields = {}): void => this.#add({ sentence, fields })
  info = (sentence: string, fields: LogFields = {}): void => this.#add({ sentence, fields })
  warn = (sentence: string, fields: LogFields = {}): void => this.#add({ sentence, fields })
  error = (sentence: string, fields: LogFields = {}): void => this.#add({ sentence, fields })
  child = (): Logger => this

  /** The first line with this sentence, or the `nth`, written already or still to come. */
  async line(sentence: string, { nth = 1 } = {}): Promise<AwaitedLine> {
    for (;;) {
      const known = this.lines.filter((line) => line.sentence === sentence)[nth - 1]
      if (known) return known
      await new Promise<AwaitedLine>((resolve) => this.#waiting.push({ sentence, resolve }))
    }
  }

  #add(line: AwaitedLine): void {
    this.lines.push(line)
    const wanted = this.#waiting.filter(({ sentence }) => sentence === line.sentence)
    this.#waiting = this.#waiting.filter((waiter) => !wanted.includes(waiter))
    for (const { resolve } of wanted) resolve(line)
  }
}
