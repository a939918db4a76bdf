import type { ChannelSink } from '../../src/channels/adapter.ts'
import type { Logger } from '../../src/core/logger.ts'

interface GuardPorts {
  readonly sink: Pick<ChannelSink, 'unknown'>
  readonly logger: Logger
  readonly account: string
}

/** Runs what handles one event from outside. */
export type Guard = (kind: string, handle: () => void) => void

/**
 * Returns the one guard around what comes from outside: what a payload makes our own reading throw is counted as
 * `unreadable:<kind>` and logged in one line, and the next event is handled as if nothing had been:
 * nothing from outside ends the process. `kind` is a word of ours or one that `wordOf` let pass, never a person's text.
 */
export function createGuard(ports: GuardPorts): Guard {
  return (kind, handle) => {
    try {
      handle()
    } catch (err) {
      letGo(ports, kind, err)
    }
  }
}

/** Counts an event that made our own reading throw. */
export function letGo({ sink, logger, account }: GuardPorts, kind: string, err: unknown): void {
  sink.unknown(`unreadable:${kind}`)
  logger.warn('An event could not be handled and was let go.', { account, kind, err })
}
