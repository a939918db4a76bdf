import type { ChannelId, SessionId } from '../core/ids.ts'
import { id, text } from './rows.ts'
import { SessionListing } from './session-listing.ts'
import type { ParticipantReader, ParticipantWriter } from './small-port.ts'
import type { RepositoryDeps, Sql, WriteDeps } from './sql.ts'

/** Returns the condition that a name is this id in some team; the character after the colon bounds its range. */
export function isInATeam(name: string): string {
  return `${name} >= $1 AND ${name} < $2 AND substr(${name}, length(${name}) - length($3) + 1) = $3`
}

/** Returns the parameters of that condition. */
export function inATeam(channel: ChannelId, user: string): readonly [string, string, string] {
  return [`${channel}:`, `${channel};`, `/${user}`.toLowerCase()]
}

export class ParticipantReading implements ParticipantReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async of(sessionId: SessionId): Promise<readonly string[]> {
    const query = 'SELECT participant FROM participants WHERE session_id = $1 ORDER BY joined_at, participant'
    return (await this.sql.all(query, [sessionId])).map((row) => text(row, 'participant'))
  }

  async sessionsOf(participant: string): Promise<readonly SessionId[]> {
    const query = 'SELECT session_id FROM participants WHERE participant = $1'
    return (await this.sql.all(query, [participant])).map((row) => id(row, 'session_id'))
  }

  async inAnyTeam(channel: ChannelId, user: string): Promise<readonly string[]> {
    const query = `SELECT DISTINCT participant FROM participants WHERE ${isInATeam('participant')}`
    const rows = await this.sql.all(query, inATeam(channel, user))
    return rows.map((row) => text(row, 'participant'))
  }
}

export class ParticipantWriting extends ParticipantReading implements ParticipantWriter {
  readonly #deps: Pick<WriteDeps, 'sql' | 'known'>

  constructor(deps: WriteDeps) {
    super(deps)
    this.#deps = deps
  }

  async add(sessionId: SessionId, participant: string, at: number): Promise<void> {
    const { known, sql } = this.#deps
    if (known.hasJoined(sessionId, participant)) return
    const added = await this.sql.run(
      `INSERT INTO participants (session_id, participant, joined_at) VALUES ($1, $2, $3)
        ON CONFLICT (session_id, participant) DO NOTHING`,
      [sessionId, participant, at],
    )
    if (added > 0) await new SessionListing(sql).joined(sessionId, participant)
    known.keepParticipant(sessionId, participant)
    sql.afterUndo(() => known.forgetParticipants(sessionId))
  }

  async leave(sessionId: SessionId, participant: string): Promise<boolean> {
    const query = 'DELETE FROM participants WHERE session_id = $1 AND participant = $2'
    if ((await this.sql.run(query, [sessionId, participant])) === 0) return false
    await new SessionListing(this.sql).left(sessionId, [participant])
    this.#deps.known.forgetParticipants(sessionId)
    return true
  }

  async remove(sessionId: SessionId): Promise<void> {
    await new SessionListing(this.sql).left(sessionId)
    await this.sql.run('DELETE FROM participants WHERE session_id = $1', [sessionId])
    this.#deps.known.forgetParticipants(sessionId)
  }
}
