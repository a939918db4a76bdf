import { destination, type Logger as PinoLogger, pino } from 'pino'
import type { LogFields, Logger } from '../core/logger.ts'
import { createRedactor } from '../core/redact.ts'
import { plainFields } from './plain-fields.ts'
import { escapeControls, prettyLine } from './pretty-line.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

export interface LoggerOptions {
  readonly level: Level
  /** True for lines for people instead of JSON. */
  readonly pretty: boolean
  /** The values that never appear in a line, wherever they come from. */
  readonly secrets: readonly string[]
  /** The output, standard error by default. */
  readonly out?: LogOutput
  /** Returns ms since the epoch. */
  readonly now?: () => number
}

export interface LogOutput {
  write(text: string): void
  readonly isTTY: boolean
}

/**
 * Returns the logger over pino: one JSON object a line, with ISO time, level name, the fields of the logger and of the
 * call, and the sentence as `msg`. Lines are written at once, so that the last one before a crash is there.
 */
export function createPinoLogger(options: LoggerOptions): Logger {
  const { level, pretty, secrets, out = standardError(), now = Date.now } = options
  const redact = createRedactor(secrets)
  const toJson = (line: string): string => escapeControls(redact(line.trimEnd()))
  const root = pino(
    {
      level,
      // There is no process id and host name: the service manager knows both.
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // The error is plain already: pino would put the messages of all causes into one.
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: (line) => (pretty ? prettyLine(toJson(line), out.isTTY) : `${toJson(line)}\n`) },
    },
    out,
  )
  return wrap(root)
}

/** Characters that wait for an output that takes none, such as a file on a full disk; further lines are left out. */
const MOST_WAITING = 65_536

/**
 * Writes to the descriptor: a write that returned has left the process. A line that cannot be written ends nothing, and
 * waits for the next.
 */
function standardError(): LogOutput {
  const stream = destination({ fd: process.stderr.fd, sync: true, maxLength: MOST_WAITING })
  // Without a listener the error would be thrown to whoever logs, in the middle of what they do.
  stream.on('error', () => {})
  return { write: (text) => stream.write(text), isTTY: process.stderr.isTTY === true }
}

function wrap(logger: PinoLogger): Logger {
  const write = (level: Level, sentence: string, fields: LogFields = {}): void => {
    // The fields of a line that is not written are not computed.
    if (logger.isLevelEnabled(level)) logger[level](plainFields(fields), sentence)
  }
  return {
    debug: (sentence, fields) => write('debug', sentence, fields),
    info: (sentence, fields) => write('info', sentence, fields),
    warn: (sentence, fields) => write('warn', sentence, fields),
    error: (sentence, fields) => write('error', sentence, fields),
    child: (fields) => wrap(logger.child(plainFields(fields))),
  }
}
