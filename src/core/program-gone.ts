import type { LogFields, Logger } from './logger.ts'

/** The folder of this program: built, of everything that it loads when it is first needed. */
const FOLDER = new URL('.', import.meta.url).href
const MOST_CAUSES = 5

/**
 * Returns true for the error of a part of this program that is loaded when it is first needed and is not there any
 * more: another version was installed while this one runs. Nothing but a start of that one mends it.
 */
export function isProgramGone(thrown: unknown): boolean {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < MOST_CAUSES; depth++, error = error.cause) {
    const { code, url } = error as { readonly code?: unknown; readonly url?: unknown }
    if (code === 'ERR_MODULE_NOT_FOUND' && typeof url === 'string' && url.startsWith(FOLDER)) return true
  }
  return false
}

/**
 * Returns the logger of the daemon, which calls `gone` for each such error that is logged: that is where errors stop.
 * A turn, a tool and a command, which would answer for it, look for it themselves: the next start does them again.
 */
export function noticingGone(logger: Logger, gone: () => void): Logger {
  const looked = (fields: LogFields | undefined): LogFields | undefined => {
    if (fields?.err !== undefined && isProgramGone(fields.err)) gone()
    return fields
  }
  return {
    debug: (sentence, fields) => logger.debug(sentence, looked(fields)),
    info: (sentence, fields) => logger.info(sentence, looked(fields)),
    warn: (sentence, fields) => logger.warn(sentence, looked(fields)),
    error: (sentence, fields) => logger.error(sentence, looked(fields)),
    child: (fields) => noticingGone(logger.child(fields), gone),
  }
}
