import type { Namespace } from '../core/caller.ts'
import type { SessionId } from '../core/ids.ts'
import type { ListPlace } from '../core/list-cursor.ts'
import type { Session } from '../core/session.ts'

/** The lists of sessions, newest activity first, each with its exact total. No list has the session of a task. */
export interface SessionListReader {
  /** `limit` 1-200, else `invalid`. What cannot be read is neither listed nor counted. */
  page(query: PageQuery): Promise<ListPage>
  /** Returns the number of all sessions, those of tasks too. */
  stored(): Promise<number>
  /** Returns the ids of those that join chats of several channels and whose ids begin with one of these (S42). */
  joined(): Promise<readonly SessionId[]>
}

export interface PageQuery {
  readonly limit: number
  /** The number of sessions that are left out at the beginning. */
  readonly offset?: number
  /** Only what stands after it; in place of an offset. */
  readonly after?: ListPlace | undefined
  /** Also the ended ones (S9), and those last active before `activeSince`. */
  readonly inactive: boolean
  readonly activeSince?: number
  /** Only ids that begin with it and a colon (S42). */
  readonly namespace?: Namespace
  /** Only sessions that one of them took part in (S20); empty: none. */
  readonly participants?: readonly string[]
}

export interface ListPage {
  readonly sessions: readonly Session[]
  readonly total: number
  /** The last one of the page; absent where nothing stands after it. */
  readonly next?: ListPlace
}
