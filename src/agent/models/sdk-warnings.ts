import type { Logger } from '../../core/logger.ts'

/** Texts that were logged; a provider has a handful of them. */
const logged = new Set<string>()

/**
 * Makes a call of an SDK and passes what it prints meanwhile to the log, each text once. The SDKs warn of old models on
 * the console at every call, where it would stand between the lines of the log and no setting would stop it. Only the
 * synchronous part of the call is watched, so nobody else's output is taken.
 */
export function withoutPrinting<Result>(call: () => Result, logger: Logger): Result {
  const { warn } = console
  console.warn = (...words: readonly unknown[]) => {
    const text = words.join(' ')
    if (logged.has(text)) return
    logged.add(text)
    logger.warn('The library of a model provider warns', { text })
  }
  try {
    return call()
  } finally {
    console.warn = warn
  }
}
