import type { AccountId, ChannelId } from '../core/ids.ts'
import { text } from './rows.ts'
import type { ChannelStateReader, ChannelStateWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

export class ChannelStateReading implements ChannelStateReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async get(channel: ChannelId, account: AccountId, key: string): Promise<string | undefined> {
    const query = 'SELECT value FROM channel_state WHERE channel = $1 AND account = $2 AND key = $3'
    const row = await this.sql.get(query, [channel, account, key])
    return row && text(row, 'value')
  }
}

export class ChannelStateWriting extends ChannelStateReading implements ChannelStateWriter {
  async set(channel: ChannelId, account: AccountId, key: string, value: string): Promise<void> {
    await this.sql.run(
      `INSERT INTO channel_state (channel, account, key, value) VALUES ($1, $2, $3, $4)
        ON CONFLICT (channel, account, key) DO UPDATE SET value = excluded.value`,
      [channel, account, key, value],
    )
  }

  async delete(channel: ChannelId, account: AccountId, key: string): Promise<void> {
    const statement = 'DELETE FROM channel_state WHERE channel = $1 AND account = $2 AND key = $3'
    await this.sql.run(statement, [channel, account, key])
  }
}
