import { namespacesOf } from '../core/caller.ts'
import { ParleyError } from '../core/errors.ts'
import type { SessionId } from '../core/ids.ts'
import { JOINED_IDS } from '../core/joins-people.ts'
import type { ListPlace } from '../core/list-cursor.ts'
import type { Logger } from '../core/logger.ts'
import type { Session } from '../core/session.ts'
import { JOINED } from './joined-sessions.ts'
import type { ListPage, PageQuery, SessionListReader } from './list-port.ts'
import { id, integer, readRows, text } from './rows.ts'
import { SESSION_COLUMNS, sessionCodec } from './session-codec.ts'
import { countListed } from './session-list-counts.ts'
import { type Key, keysAfter, type WantedLists } from './session-list-keys.ts'
import { ALL, ENDED, namespaceList, OPEN, participantList, WHENEVER } from './session-listing.ts'
import { placeholders, type RepositoryDeps, type Sql } from './sql.ts'

/** Sizes of the lists of numbers in statements, so that few texts exist. */
const SIZES = [64, 256]

/** The ids of those that were begun since begin so. */
const NOWHERE = Object.values(JOINED_IDS).map((start) => `${start}:`)

export class SessionListReading implements SessionListReader {
  readonly #sql: Sql
  readonly #logger: Logger
  /** Numbers of rows that were found unreadable: no list holds them, so none counts them. */
  readonly #unreadable = new Set<number>()

  constructor({ sql, logger }: RepositoryDeps) {
    this.#sql = sql
    this.#logger = logger
  }

  async page(query: PageQuery): Promise<ListPage> {
    const { limit, offset = 0, after } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw new ParleyError('invalid', 'limit must be 1 to 200')
    if (!Number.isSafeInteger(offset) || offset < 0) throw new ParleyError('invalid', 'offset must be 0 or more')
    const wanted = wantedBy(query)
    const total = await countListed(this.#sql, wanted, this.#unreadable)
    const from = after && (await this.#keyOf(after, query))
    // One more says whether there is a next page.
    const count = offset >= total ? 0 : offset + limit + 1
    const keys = (await keysAfter(this.#sql, wanted, { from, count, without: this.#unreadable })).slice(offset)
    const shown = keys.slice(0, limit)
    const { sessions, unreadable } = await this.#sessionsOf(shown)
    if (unreadable.length > 0) {
      for (const no of unreadable) this.#unreadable.add(no)
      return this.page(query)
    }
    const last = sessions.at(-1)
    const more = keys.length > limit && last !== undefined
    return { sessions, total, ...(more ? { next: { at: last.lastActivityAt, id: last.id } } : {}) }
  }

  async stored(): Promise<number> {
    const row = await this.#sql.get(
      'SELECT SUM(sessions) AS sessions FROM session_counts WHERE list = $1 AND hour = $2',
      [ALL, WHENEVER],
    )
    return Number(row?.sessions ?? 0)
  }

  async joined(): Promise<readonly SessionId[]> {
    const rows = await this.#sql.all(`SELECT id FROM sessions WHERE ${JOINED}`, [])
    return rows.map((row) => id<SessionId>(row, 'id')).filter((one) => !NOWHERE.some((start) => one.startsWith(start)))
  }

  /**
   * The session may be gone by now: then whatever was last active in the same millisecond may come once more. One that
   * is in another's list is taken as gone, so that no cursor says whether it is there.
   */
  async #keyOf({ at, id: session }: ListPlace, { namespace, participants }: PageQuery): Promise<Key> {
    const own =
      (namespace === undefined || namespacesOf(session).includes(namespace)) &&
      (participants === undefined || (await this.#hasOneOf(session, participants)))
    const among = namespace === undefined ? '' : ` AND NOT ${JOINED}`
    const row = own ? await this.#sql.get(`SELECT no FROM sessions WHERE id = $1${among}`, [session]) : undefined
    return { at, no: row === undefined ? Number.MAX_SAFE_INTEGER : integer(row, 'no') }
  }

  async #hasOneOf(session: SessionId, participants: readonly string[]): Promise<boolean> {
    const rows = await this.#sql.all('SELECT participant FROM participants WHERE session_id = $1', [session])
    return rows.some((row) => participants.includes(text(row, 'participant')))
  }

  async #sessionsOf(keys: readonly Key[]): Promise<{ sessions: readonly Session[]; unreadable: readonly number[] }> {
    if (keys.length === 0) return { sessions: [], unreadable: [] }
    const size = SIZES.find((most) => most >= keys.length) ?? keys.length
    const nos = Array.from({ length: size }, (_, at) => keys[at]?.no ?? 0)
    const rows = await this.#sql.all(
      `SELECT ${SESSION_COLUMNS} FROM sessions JOIN session_activity AS activity ON activity.no = sessions.no
        WHERE sessions.no IN (${placeholders(size)})`,
      nos,
    )
    const byId = new Map<unknown, Session>(readRows(sessionCodec, rows, this.#logger).map((one) => [one.id, one]))
    const found = new Map(rows.map((row) => [integer(row, 'no'), byId.get(id(row, 'id'))]))
    // One that was deleted meanwhile is not found.
    return {
      sessions: keys.flatMap(({ no }) => found.get(no) ?? []),
      unreadable: keys.flatMap(({ no }) => (found.has(no) && found.get(no) === undefined ? [no] : [])),
    }
  }
}

function wantedBy(query: PageQuery): WantedLists {
  const { inactive, activeSince } = query
  return {
    lists: listsOf(query),
    standings: inactive ? [OPEN, ENDED] : [OPEN],
    ...(inactive || activeSince === undefined ? {} : { since: activeSince }),
  }
}

function listsOf({ namespace, participants }: Omit<PageQuery, 'limit' | 'inactive'>): readonly string[] {
  if (participants !== undefined) return [...new Set(participants)].map(participantList)
  return [namespace === undefined ? ALL : namespaceList(namespace)]
}
