import type { Address } from '../core/address.ts'
import type { ChatMove, TimedMove } from '../core/chat-move.ts'
import type { Decision, Dispatch, ReplyTarget } from '../core/dispatch.ts'
import type { ChannelId, DeliveryId, InboxId, ScheduleId, ScopeKey, SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { ScheduleDefinition } from '../core/schedule.ts'
import type { Session } from '../core/session.ts'
import type { ChatMoveReader, ChatMoveWriter } from './chat-move-port.ts'
import { id, integer, type RowCodec, readRows, text } from './rows.ts'
import type { RepositoryDeps, Sql, WriteDeps } from './sql.ts'

const codec: RowCodec<TimedMove> = {
  table: 'chat_moves',
  key: ['channel', 'from_chat'],
  decode: (row) => ({
    channel: id(row, 'channel'),
    from: text(row, 'from_chat'),
    to: text(row, 'to_chat'),
    at: integer(row, 'moved_at'),
  }),
}

export class ChatMoveReading implements ChatMoveReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async all(): Promise<readonly TimedMove[]> {
    const query = 'SELECT channel, from_chat, to_chat, moved_at FROM chat_moves ORDER BY from_chat'
    const rows = await this.sql.all(query, [])
    return readRows(codec, rows, this.#logger)
  }

  async movedAt(channel: ChannelId, to: string): Promise<number | undefined> {
    const query = 'SELECT moved_at FROM chat_moves WHERE channel = $1 AND to_chat = $2'
    const row = await this.sql.get(query, [channel, to])
    return row && integer(row, 'moved_at')
  }

  async movedTo(channel: ChannelId, from: string): Promise<string | undefined> {
    const query = 'SELECT channel, from_chat, to_chat, moved_at FROM chat_moves WHERE channel = $1 AND from_chat = $2'
    const row = await this.sql.get(query, [channel, from])
    return readRows(codec, row === undefined ? [] : [row], this.#logger)[0]?.to
  }
}

/**
 * Rewrites the rows of a moved chat. They lie in many tables and stand here together, because no other code moves them.
 */
export class ChatMoveWriting extends ChatMoveReading implements ChatMoveWriter {
  readonly #deps: Pick<WriteDeps, 'sql' | 'known'>

  constructor(deps: WriteDeps) {
    super(deps)
    this.#deps = deps
  }

  async add({ channel, from, to }: ChatMove, at: number): Promise<boolean> {
    const added = await this.sql.run(
      `INSERT INTO chat_moves (channel, from_chat, to_chat, moved_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (channel, from_chat) DO NOTHING`,
      [channel, from, to, at],
    )
    return added > 0
  }

  /**
   * Looks at every session: it happens once in the life of a group, and an index would be paid for by every session.
   */
  async sessionsIn({ channel, from }: ChatMove): Promise<readonly SessionId[]> {
    const chat = `"chat":"group:${from}`.toLowerCase()
    const rows = await this.sql.all(
      `SELECT id FROM sessions WHERE (LOWER(scope) LIKE $1 OR LOWER(scope) LIKE $2) AND scope LIKE $3 ORDER BY no`,
      [`%${chat}"%`, `%${chat}/%`, `%"channel":"${channel}"%`],
    )
    return rows.map((row) => id(row, 'id'))
  }

  async rekeySession(session: Pick<Session, 'id' | 'scope' | 'scopeKey' | 'displayKey' | 'metadata'>): Promise<void> {
    const { scope, scopeKey, displayKey, metadata } = session
    await this.sql.run(
      'UPDATE sessions SET scope = $2, scope_key = $3, display_key = $4, metadata = $5 WHERE id = $1',
      [session.id, JSON.stringify(scope), scopeKey, displayKey, JSON.stringify(metadata)],
    )
    this.#forget()
  }

  async repoint(from: ScopeKey, to: ScopeKey, session: SessionId): Promise<void> {
    await this.sql.run('DELETE FROM scopes WHERE scope_key = $1', [from])
    await this.sql.run(
      `INSERT INTO scopes (scope_key, session_id) VALUES ($1, $2)
        ON CONFLICT (scope_key) DO UPDATE SET session_id = excluded.session_id`,
      [to, session],
    )
    this.#forget()
  }

  /** A move changes keys of many sessions, and is rare. */
  #forget(): void {
    const { known, sql } = this.#deps
    known.clear()
    sql.afterUndo(() => known.clear())
  }

  async rewriteInbox(inbox: InboxId, dispatch: Dispatch, decision: Decision): Promise<void> {
    const params = [inbox, JSON.stringify(dispatch), JSON.stringify(decision)]
    await this.sql.run('UPDATE inbox SET dispatch = $2, decision = $3 WHERE id = $1', params)
  }

  async rewriteReply(turn: TurnId, reply: ReplyTarget): Promise<void> {
    await this.sql.run('UPDATE turns SET reply = $2 WHERE id = $1', [turn, JSON.stringify(reply)])
  }

  async rewriteDelivery(delivery: DeliveryId, address: Address): Promise<void> {
    const query = 'UPDATE outbox SET address = $2, reply_to = NULL WHERE id = $1'
    await this.sql.run(query, [delivery, JSON.stringify(address)])
  }

  async rewriteSchedule(schedule: ScheduleId, definition: ScheduleDefinition): Promise<void> {
    await this.sql.run('UPDATE schedules SET definition = $2 WHERE id = $1', [schedule, JSON.stringify(definition)])
  }
}
