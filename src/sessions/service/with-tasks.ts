import type { ListPlace } from '../../core/list-cursor.ts'
import type { Session } from '../../core/session.ts'
import type { PageQuery, SessionListReader } from '../../store/list-port.ts'
import type { SessionReader } from '../../store/session-port.ts'

/** A page of sessions, each with those of the tasks that it began. */
export interface PageWithTasks {
  readonly sessions: readonly { readonly session: Session; readonly children: readonly Session[] }[]
  /** Sessions that are no task. */
  readonly total: number
  /** The end of the page; absent where nothing comes after it. */
  readonly next?: ListPlace
}

/** The most tasks of a page. */
const MOST_CHILDREN = 200

/** Lists sessions that no other began, newest activity first, and below each its tasks, newest activity first (R33). */
export async function withTasks(
  { lists, sessions }: { readonly lists: SessionListReader; readonly sessions: Pick<SessionReader, 'list'> },
  query: PageQuery,
): Promise<PageWithTasks> {
  const { sessions: listed, ...page } = await lists.page(query)
  const parents = listed.map(({ id }) => id)
  const { after: _after, ...filter } = query
  const children = await sessions.list({ ...filter, parents, limit: MOST_CHILDREN, offset: 0 })
  const below = (session: Session) => children.sessions.filter(({ parent }) => parent === session.id)
  return { ...page, sessions: listed.map((session) => ({ session, children: below(session) })) }
}
