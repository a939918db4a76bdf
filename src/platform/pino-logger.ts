import { destination, type Logger as PinoLogger, pino } from 'pino'
import type { LogFields, Logger } from '../core/logger.ts'
import { createRedactor } from '../core/redact.ts'
import { plainFields } from './plain-fields.ts'

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

interface LoggedError {
  readonly name?: string
  readonly message: string
  readonly stack?: string
  readonly cause?: unknown
}

interface Line {
  readonly time: string
  readonly level: string
  readonly msg?: string
  readonly subsystem?: string
}

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 }

/**
 * Returns a line of JSON for people: `10:12:03 warn telegram The poll failed attempt=3 err="fetch failed"` and, below
 * it and indented, the stack of an error and of its causes. Colours are for terminals only.
 */
export function prettyLine(json: string, coloured: boolean): string {
  const { time, level, msg = '', subsystem = '', ...fields }: Line & Record<string, unknown> = JSON.parse(json)
  const padded = level.padEnd(5)
  const name = coloured ? `\u001b[${COLOURS[level] ?? 0}m${padded}\u001b[0m` : padded
  const words = Object.entries(fields).map(([key, value]) => ` ${escapeControls(key)}=${word(value)}`)
  const head = `${time.slice(11, 19)} ${name} ${escapeControls(subsystem).padEnd(9)} ${escapeControls(msg)}${words.join('')}`
  const stacks = Object.values(fields).filter(isError).flatMap(stackLines)
  return `${[head, ...stacks.map((line) => `    ${escapeControls(line)}`)].join('\n')}\n`
}

/** Returns a value bare if it reads well, else in quotes; an error is its message, since its stack stands below. */
function word(value: unknown): string {
  const shown = isError(value) ? value.message : value
  const text = typeof shown === 'string' && /^[\w:./@+-]+$/.test(shown) ? shown : JSON.stringify(shown)
  return escapeControls(text ?? 'undefined')
}

function stackLines({ name = 'Error', message, stack = `${name}: ${message}`, cause }: LoggedError): string[] {
  const own = stack.split('\n').map((line) => line.trimStart())
  const [first = '', ...frames] = own
  const lines = [first, ...frames.map((line) => `  ${line}`)]
  if (!isError(cause)) return lines
  const [below = '', ...more] = stackLines(cause)
  return [...lines, `caused by ${below}`, ...more]
}

function isError(value: unknown): value is LoggedError {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value
}

/** C0 and C1 controls, line separators, and the marks that reorder the following text on a screen. */
const UNSAFE = /[\p{Cc}\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes, as `\u001b`, every character that would move the cursor, break the line or reorder it on a terminal. */
function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
