import type { Session } from '../../core/session.ts'
import type { SessionQuery, SessionReader } from '../../store/session-port.ts'

/** A page of sessions, each with those of the tasks that it began. */
export interface PageWithTasks {
  readonly sessions: readonly { readonly session: Session; readonly children: readonly Session[] }[]
  /** Sessions that are no task. */
  readonly total: number
}

/** The most tasks of a page. */
const MOST_CHILDREN = 200

/** Lists sessions that no other began, newest activity first, and below each its tasks, newest activity first (R33). */
export async function withTasks(sessions: Pick<SessionReader, 'list'>, query: SessionQuery): Promise<PageWithTasks> {
  const page = await sessions.list({ ...query, parents: 'none' })
  const parents = page.sessions.map(({ id }) => id)
  const children = await sessions.list({ ...query, parents, limit: MOST_CHILDREN, offset: 0 })
  const below = (session: Session) => children.sessions.filter(({ parent }) => parent === session.id)
  return { sessions: page.sessions.map((session) => ({ session, children: below(session) })), total: page.total }
}
