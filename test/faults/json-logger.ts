import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import type { LogFields, Logger } from '../../src/core/logger.ts'

/**
 * Writes each line to stderr before it returns, so that a killed process leaves all it said. It redacts nothing: a
 * secret that reaches the logging port is found by the invariants, whatever the product's own sink would hide.
 */
export function jsonLogger(base: LogFields = {}): Logger {
  const at = (level: string) => (sentence: string, fields: LogFields) => {
    const shown = Object.fromEntries(Object.entries(fields ?? {}).map(([key, value]) => [key, plain(value)]))
    writeSync(2, `${JSON.stringify({ at: new Date().toISOString(), level, sentence, ...base, ...shown })}\n`)
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => jsonLogger({ ...base, ...fields }),
  }
}

function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? inspect(value, { depth: 8 }) : value
}
