export type LogFields = Readonly<Record<string, unknown>>

/**
 * The logging port. The first argument is a constant sentence, what varies goes into the fields; ids yes, message
 * bodies no. `error` goes under the field `err` and is written with its causes.
 */
export interface Logger {
  debug(sentence: string, fields?: LogFields): void
  info(sentence: string, fields?: LogFields): void
  warn(sentence: string, fields?: LogFields): void
  error(sentence: string, fields?: LogFields): void
  /** A logger whose lines all carry `fields`, typically `{ subsystem }`. */
  child(fields: LogFields): Logger
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
