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

/** The kinds of sessions that have a cap of their own. */
export const CAPPED = ['api', 'cli', 'web', 'chat', 'schedule'] as const

/** The cap of a client's session (C9). Chats and schedules live for years and have none by themselves. */
const DEFAULT_CAPS: TurnCaps = { api: 50, cli: 50, web: 50 }

/** Returns how many turns sessions of a kind have at most; undefined: as many as they like. */
export function capOf(caps: TurnCaps, kind: keyof TurnCaps): number | undefined {
  const cap = caps[kind]
  return cap !== undefined && cap > 0 ? cap : DEFAULT_CAPS[kind]
}

/** Returns how many turns a session has at most; undefined: as many as it likes. */
export function turnCapOf(caps: TurnCaps, session: Pick<Session, 'source' | 'kind'>): number | undefined {
  return capOf(caps, cappedAs(session))
}

function cappedAs({ source, kind }: Pick<Session, 'source' | 'kind'>): keyof TurnCaps {
  if (isScheduled({ source })) return 'schedule'
  // The main session is joined to chats, wherever it began.
  if (kind === 'main' || !isOwnChannel({ source })) return 'chat'
  return source.kind === 'cli' || source.kind === 'web' ? source.kind : 'api'
}
