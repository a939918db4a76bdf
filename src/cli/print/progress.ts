import type { Output } from '../ports.ts'

/** A line about how far something is, on a terminal alone. */
export interface ProgressLine {
  at(this: void, done: number, total: number): void
  /** Takes the line away. Idempotent. */
  end(this: void): void
}

const WIDTH = 24

/** Returns the progress of something that is counted in `what`. */
export function createProgress(output: Output, what: string): ProgressLine {
  let shown = ''
  return {
    at(done, total) {
      if (!output.isTTY || total <= 0) return
      const full = Math.round((Math.min(done, total) / total) * WIDTH)
      const line = `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${done} of ${total} ${what}`
      if (line === shown) return
      output.write(`\r${line.padEnd(shown.length)}`)
      shown = line
    },
    end() {
      if (shown !== '') output.write(`\r${' '.repeat(shown.length)}\r`)
      shown = ''
    },
  }
}
