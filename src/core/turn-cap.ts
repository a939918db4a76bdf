import { isOwnChannel, isScheduled, type Session } from './session.ts'

/**
 * The turns that sessions have at most, by their kind (`session.turnCap`); 0, a negative number or none: the default.
 */
export interface TurnCaps {
  readonly api?: number
  readonly cli?: number
  readonly web?: number
  readonly chat?: number
  readonly schedule?: number
}

/** The cap of a client's session (C9). Chats and schedules live for years and have none by themselves. */
const OF_CLIENTS = 50

/** Returns how many turns a session has at most; undefined: as many as it likes. */
export function turnCapOf(caps: TurnCaps, { source, kind }: Pick<Session, 'source' | 'kind'>): number | undefined {
  // The main session is joined to chats, wherever it began.
  if (kind === 'main' || !isOwnChannel({ source })) {
    const cap = isScheduled({ source }) ? caps.schedule : caps.chat
    return cap !== undefined && cap > 0 ? cap : undefined
  }
  const cap = source.kind === 'cli' || source.kind === 'web' ? caps[source.kind] : caps.api
  return cap !== undefined && cap > 0 ? cap : OF_CLIENTS
}
