import type { SourceId } from '../core/ids.ts'
import { id, text } from './rows.ts'
import type { CardReader, CardWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

export class CardReading implements CardReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async of(subject: string): Promise<readonly SourceId[]> {
    const rows = await this.sql.all('SELECT source FROM cards WHERE subject = $1 ORDER BY source', [subject])
    return rows.map((row) => id<SourceId>(row, 'source'))
  }

  async subjects(): Promise<readonly string[]> {
    const rows = await this.sql.all('SELECT DISTINCT subject FROM cards ORDER BY subject', [])
    return rows.map((row) => text(row, 'subject'))
  }
}

export class CardWriting extends CardReading implements CardWriter {
  async add(subject: string, source: SourceId): Promise<void> {
    await this.sql.run('INSERT INTO cards (subject, source) VALUES ($1, $2) ON CONFLICT DO NOTHING', [subject, source])
  }

  async remove(subject: string, source: SourceId): Promise<void> {
    await this.sql.run('DELETE FROM cards WHERE subject = $1 AND source = $2', [subject, source])
  }
}
