import type { Clock } from '../../core/clock.ts'
import type { SessionId } from '../../core/ids.ts'
import { SESSION_KINDS, type Session, type SessionKind } from '../../core/session.ts'
import type { ListQuery, SessionCaller, SessionRow } from '../../core/session-tools.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { clamp } from './clamp.ts'
import type { Reach } from './reach.ts'
import { newestMessages } from './read-messages.ts'
import { shownKey } from './shown-key.ts'

export interface ListDeps {
  readonly read: Pick<StoreReader, 'sessions' | 'events'>
  readonly reach: Reach
  readonly clock: Clock
  modelOf(session: Session): string
  transcriptPath(session: SessionId): string
}

const PAGE = 200
const ROWS = { fallback: 50, least: 1, most: 200 }
const MESSAGES = { fallback: 0, least: 0, most: 20 }
/** Of the messages of one row: 200 rows must still fit a prompt. */
const ROW_BYTES = 8_000

/** Reads on until the limit is full: what the caller cannot see does not eat into it (T8). */
export async function listSessions(deps: ListDeps, query: ListQuery, caller: SessionCaller): Promise<SessionRow[]> {
  const limit = clamp(query.limit, ROWS)
  const messages = clamp(query.messageLimit, MESSAGES)
  const filter = filterOf(deps, query, caller)
  const rows: SessionRow[] = []
  for (let offset = 0; ; offset += PAGE) {
    const { sessions, total } = await deps.read.sessions.list({ ...filter, limit: PAGE, offset, inactive: false })
    for (const session of sessions) {
      if (rows.length === limit) return rows
      if (await deps.reach.reaches(session, caller)) rows.push(await rowOf(deps, session, { caller, messages }))
    }
    if (offset + PAGE >= total) return rows
  }
}

type Filter = Pick<SessionQuery, 'kinds' | 'agents' | 'activeSince'>

function filterOf({ reach, clock }: ListDeps, { kinds = [], activeMinutes }: ListQuery, caller: SessionCaller): Filter {
  const known = SESSION_KINDS.filter((kind) => kinds.includes(kind))
  const agents = reach.agentsOf(caller)
  return {
    ...(known.length === 0 ? {} : { kinds: known }),
    ...(agents === undefined ? {} : { agents }),
    ...(activeMinutes === undefined ? {} : { activeSince: clock.now() - Math.max(0, activeMinutes) * 60_000 }),
  }
}

async function rowOf(
  { read, modelOf, transcriptPath }: ListDeps,
  session: Session,
  { caller, messages }: { readonly caller: SessionCaller; readonly messages: number },
): Promise<SessionRow> {
  const { id, kind, lastActivityAt, description, sendOverride } = session
  const bounds = { limit: messages, tools: false, bytes: ROW_BYTES }
  return {
    key: shownKey(session, caller),
    kind,
    provider: providerOf(session),
    updatedAt: lastActivityAt,
    sessionId: id,
    model: modelOf(session),
    transcriptPath: transcriptPath(id),
    ...(description === '' ? {} : { displayName: description }),
    ...(sendOverride === undefined ? {} : { sendPolicy: sendOverride }),
    ...(messages === 0 ? {} : { messages: (await newestMessages(read.events, session, bounds)).messages }),
  }
}

const INTERNAL: readonly SessionKind[] = ['cron', 'hook', 'node']

/** T22: the surface of a group, the last channel of a direct session. */
function providerOf({ kind, metadata, source }: Session): string {
  if (INTERNAL.includes(kind)) return 'internal'
  return metadata.channel ?? source.platform ?? 'unknown'
}
