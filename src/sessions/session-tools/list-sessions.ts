import type { Clock } from '../../core/clock.ts'
import type { Session } from '../../core/session.ts'
import { type ListQuery, readKinds, type SessionCaller, type SessionRow } from '../../core/session-tools.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { clamp } from './clamp.ts'
import type { CallerReach, Reach } from './reach.ts'
import { type SessionRowDeps, sessionRow } from './session-row.ts'

export interface ListDeps extends SessionRowDeps {
  readonly read: Pick<StoreReader, 'sessions' | 'events' | 'forgetting' | 'outbox'>
  readonly reach: Reach
  readonly clock: Clock
  /** The time without a message after which a session counts as inactive. */
  readonly staleMs: number
}

const PAGE = 200
const ROWS = { fallback: 50, least: 1, most: 200 }
const MESSAGES = { fallback: 0, least: 0, most: 20 }
const MINUTE_MS = 60_000

/** Reads on until the limit is full: sessions the caller cannot see do not count towards it (T8). */
export async function listSessions(deps: ListDeps, query: ListQuery, caller: SessionCaller): Promise<SessionRow[]> {
  const limit = clamp(query.limit, ROWS)
  const messages = clamp(query.messageLimit, MESSAGES)
  const reach = await deps.reach.of(caller)
  const rows: SessionRow[] = []
  for await (const session of reachable(deps, { filter: await filterOf(deps, query, reach), caller, reach })) {
    // A name is made of words that were said there: it is left out where it would lessen what the turn may do.
    const named = messages > 0 || !(await reach.adds(session))
    rows.push(await sessionRow(deps, session, { caller, messages, named }))
    if (rows.length === limit) break
  }
  return rows
}

interface Listing {
  readonly filter: Filter
  readonly caller: SessionCaller
  readonly reach: CallerReach
}

/** The caller's own session counts as reachable, even if the store does not know the caller by name. */
async function* reachable({ read }: ListDeps, { filter, caller, reach }: Listing): AsyncGenerator<Session> {
  let own = await ownSession(read, filter, caller)
  for await (const session of listed(read, filter)) {
    if (session.id === own?.id) own = undefined
    if (own && own.lastActivityAt > session.lastActivityAt) {
      yield own
      own = undefined
    }
    if ((await reach.reads(session)).kind === 'allowed') yield session
  }
  if (own) yield own
}

async function ownSession(
  { sessions }: ListDeps['read'],
  filter: Filter,
  { turn }: SessionCaller,
): Promise<Session | undefined> {
  const own = turn && filter.participants && (await sessions.get(turn.sessionId))
  return own && matches(own, filter) ? own : undefined
}

async function* listed({ sessions }: ListDeps['read'], filter: Filter): AsyncGenerator<Session> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await sessions.list({ ...filter, limit: PAGE, offset, inactive: false })
    yield* page.sessions
    if (offset + PAGE >= page.total) break
  }
}

function matches({ kind, lastActivityAt }: Session, { kinds, activeSince }: Filter): boolean {
  return (kinds?.includes(kind) ?? true) && lastActivityAt >= activeSince
}

type Filter = Pick<SessionQuery, 'kinds' | 'agents' | 'participants'> & { readonly activeSince: number }

/** A session that was not active for days is inactive, even if nobody has recorded that (S12). */
async function filterOf(
  { clock, staleMs }: ListDeps,
  { kinds: names = [], activeMinutes = Number.POSITIVE_INFINITY }: ListQuery,
  reach: CallerReach,
): Promise<Filter> {
  const { kinds } = readKinds(names)
  const { agents } = reach
  return {
    ...(kinds.length === 0 ? {} : { kinds }),
    ...(agents === undefined ? {} : { agents }),
    ...(await reach.among()),
    activeSince: clock.now() - Math.min(Math.max(0, activeMinutes) * MINUTE_MS, staleMs),
  }
}
