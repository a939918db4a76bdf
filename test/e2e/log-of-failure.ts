import { onTestFailed } from 'vitest'
import type { LogFields, Logger } from '../../src/core/logger.ts'

/** Lines of a daemon that are printed with a failed test. */
const MOST = 100

/**
 * Returns a logger whose newest lines are printed if the test fails: what a daemon has decided and done says more than a
 * message that never came.
 */
export function logOfFailure(): Logger {
  const lines: Line[] = []
  const add =
    (level: string) =>
    (sentence: string, fields: LogFields = {}) => {
      lines.push({ at: new Date().toISOString(), level, sentence, fields })
      if (lines.length > MOST) lines.shift()
    }
  const logger: Logger = {
    ...{ debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') },
    child: () => logger,
  }
  onTestFailed(() => console.error(`The daemon's log:\n${lines.map(inWords).join('\n')}`))
  return logger
}

interface Line {
  readonly at: string
  readonly level: string
  readonly sentence: string
  readonly fields: LogFields
}

function inWords({ at, level, sentence, fields }: Line): string {
  const shown = JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.stack : value))
  return `${at} ${level} ${sentence} ${shown}`
}
