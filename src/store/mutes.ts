import type { Logger } from '../core/logger.ts'
import { defined, integer, optional, type RowCodec, readRows, text } from './rows.ts'
import type { Mute, MuteReader, MuteWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const codec: RowCodec<Mute> = {
  table: 'mutes',
  key: ['conversation'],
  decode: (row) => ({
    conversation: text(row, 'conversation'),
    ...defined({ until: optional(row, 'until', integer) }),
  }),
}

export class MuteReading implements MuteReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async all(): Promise<readonly Mute[]> {
    const rows = await this.sql.all('SELECT conversation, until FROM mutes ORDER BY conversation', [])
    return readRows(codec, rows, this.#logger)
  }
}

export class MuteWriting extends MuteReading implements MuteWriter {
  async set({ conversation, until }: Mute, at: number): Promise<void> {
    await this.sql.run(
      `INSERT INTO mutes (conversation, until, muted_at) VALUES ($1, $2, $3)
        ON CONFLICT (conversation) DO UPDATE SET until = excluded.until, muted_at = excluded.muted_at`,
      [conversation, until ?? null, at],
    )
  }

  async clear(conversation: string): Promise<void> {
    await this.sql.run('DELETE FROM mutes WHERE conversation = $1', [conversation])
  }
}
